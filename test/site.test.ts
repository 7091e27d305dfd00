import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSite } from '../site/build.ts'
import { BROWSER, type Browser, startBrowser } from './console/browser.ts'
import { type Files, serveFiles } from './files.ts'

const SITE = join(import.meta.dirname, '..', 'dist', 'site')
const DOCS = join(import.meta.dirname, '..', 'docs')

// It fails when VitePress finds a dead link.
beforeAll(() => buildSite(), 600_000)

const read = (page: string) => readFileSync(join(SITE, page), 'utf8')

/** The addresses that a page links to, as they are written in it. */
function links(html: string): string[] {
  return [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))
}

/** Whether a link of the site leads to a page, and to a heading of it if it names one. */
function leads(href: string, page: string): boolean {
  const { pathname, hash } = new URL(href, `http://site/${page}`)
  const file = decodeURIComponent(pathname).replace(/\/$/, '/index.html').slice(1)
  if (!existsSync(join(SITE, file))) return false
  const id = decodeURIComponent(hash.slice(1))
  return id === '' || read(file).includes(` id="${id}"`)
}

describe('the documentation site', () => {
  test('has every page of docs/', () => {
    const pages = globSync('**/*.md', { cwd: DOCS }).map((page) =>
      page.replace(/README\.md$/, 'index.md').replace(/md$/, 'html'),
    )

    expect(pages.length).toBeGreaterThan(60)
    expect(pages.filter((page) => !existsSync(join(SITE, page)))).toEqual([])
  })

  test('has no link to a page or a heading that is not there', () => {
    const dead = globSync('**/*.html', { cwd: SITE }).flatMap((page) =>
      links(read(page))
        .filter((href) => !/^[a-z]+:/.test(href) && !leads(href, page))
        .map((href) => `${page}: ${href}`),
    )

    expect(dead).toEqual([])
  })

  test('draws the states of types', () => {
    expect(read('reference/types/crm.html')).toMatch(/<div class="diagram"[^>]*><svg[\s\S]*?>Qualified</)
  })

  test('has its pages as text for language models', () => {
    expect(read('llms.txt')).toMatch(/^# Tildebase\n[\s\S]*\[Query language\]\(\/reference\/query\.html\): /)
    expect(read('llms-full.txt')).toContain('# Types as code')
  })

  describe.skipIf(BROWSER === null)('in a browser', () => {
    let files: Files
    let browser: Browser
    beforeAll(async () => {
      files = await serveFiles(SITE)
      browser = await startBrowser({ dark: true })
    })
    afterAll(async () => {
      await browser?.close()
      await files?.close()
    })

    test('finds a page by its words, follows the theme of the system, and asks no other host', async () => {
      const { page, faults } = await browser.open()
      await page.goto(`${files.url}/`)

      await page
        .getByRole('button', { name: /Search/ })
        .first()
        .click()
      await page.getByRole('searchbox').fill('over_budget')
      await page.locator('.result', { hasText: 'Error' }).first().click()
      await page.locator('h1', { hasText: 'Errors' }).waitFor()

      expect(await page.locator('html').getAttribute('class')).toContain('dark')
      expect(faults).toEqual([])
    })
  })
})
