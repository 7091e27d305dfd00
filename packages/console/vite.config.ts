import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  // The same program in every build, also of its dependencies: tests see what people get.
  define: { 'process.env.NODE_ENV': '"production"' },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The code of the first page is one file: it compresses better than its many modules do.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] },
        // The pages for signing in use the typeface, too, and know it by its name.
        assetFileNames: ({ names }) =>
          names[0]?.endsWith('.woff2') ? 'assets/[name][extname]' : 'assets/[name]-[hash][extname]',
      },
    },
  },
  // While the console is worked on, the API is that of a server on its usual port.
  server: { proxy: { '^/(~|operator)': 'http://127.0.0.1:8787' } },
})
