/** The Big List of Naughty Strings has no types. */
declare module 'big-list-of-naughty-strings' {
  const strings: readonly string[]
  export default strings
}
