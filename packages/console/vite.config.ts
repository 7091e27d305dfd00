import { defineConfig, type Plugin } from 'vite'

/** The pages that people open most: the script in `index.html` loads their files together with the program. */
const DAILY = 'daily'

const preloadDaily: Plugin = {
  name: 'preload-daily',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle }) => {
      const files = Object.keys(bundle ?? {}).filter((name) => name.startsWith(`assets/${DAILY}-`))
      return html.replace('<script>', `<script data-pages="${files.map((name) => `/console/${name}`).join(' ')}">`)
    },
  },
}

export default defineConfig({
  base: '/console/',
  // The same program in every build, also of its dependencies: tests see what people get.
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [preloadDaily],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // The code of the first page is one file: it compresses better than its many modules do.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            { name: DAILY, test: /\/src\/daily\.ts$/, priority: 1 },
          ],
        },
        // The pages for signing in use the typeface, too, and know it by its name.
        assetFileNames: ({ names }) =>
          names[0]?.endsWith('.woff2') ? 'assets/[name][extname]' : 'assets/[name]-[hash][extname]',
      },
    },
  },
  // While the console is worked on, the API is that of a server on its usual port.
  server: { proxy: { '^/(~|operator)': 'http://127.0.0.1:8787' } },
})
