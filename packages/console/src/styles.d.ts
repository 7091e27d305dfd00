/** Styles that a page brings along: the bundler loads them with its code. */
declare module '*.css'
