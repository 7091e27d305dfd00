import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { withDiagrams } from '../diagrams.ts'
import { outsideLinks } from '../links.ts'
import { llmsFull, llmsIndex } from '../llms.ts'
import { nav, sidebar } from '../menu.ts'

export default defineConfig({
  title: 'Tildebase',
  description: 'A self-hosted, multi-tenant store of typed business entities that remembers everything.',
  lang: 'en',
  // The path below which the site is published.
  base: process.env.SITE_BASE ?? '/',
  srcDir: './pages',
  outDir: '../dist/site',
  cacheDir: './.cache',
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    // Pages are plain Markdown: `<type>` in a sentence is text.
    html: false,
    linkify: false,
    config(md) {
      md.use(outsideLinks)
      md.use(withDiagrams)
    },
  },
  vite: { logLevel: 'warn' },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: 'https://github.com/tildebase/tildebase' }],
    footer: { message: 'Apache-2.0' },
  },
  buildEnd({ outDir, pages, srcDir }) {
    writeFileSync(join(outDir, 'llms.txt'), llmsIndex(srcDir, pages))
    writeFileSync(join(outDir, 'llms-full.txt'), llmsFull(srcDir, pages))
  },
})
