import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Browser, startBrowser } from '../console/browser.ts'
import { type Served, serve } from '../docs.ts'
import { startRegistry } from '../packages/registry.ts'
import { type Followed, follow } from './follow.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const MINUTES = 60_000

let server: Served
let registry: Awaited<ReturnType<typeof startRegistry>>
let reader: Followed
beforeAll(async () => {
  ;[server, registry] = await Promise.all([serve(), startRegistry()])
  reader = await follow('docs/guides/vite.md', server, registry.env)
}, 10 * MINUTES)
afterAll(async () => {
  await reader?.stop()
  registry?.stop()
  await server?.stop()
})

describe('the tutorial for Vite, from its first block to its last', () => {
  let browser: Browser
  beforeAll(async () => {
    if (BROWSER !== null) browser = await startBrowser()
  })
  afterAll(() => browser?.close())

  test('its program fills a tenant, twice', { timeout: 2 * MINUTES }, async () => {
    expect(reader.said).toContain('3 deals\n')
    expect(await reader.run('node seed.ts')).toBe('3 deals\n')
  })

  test.skipIf(BROWSER === null)('two windows show each change', { timeout: 5 * MINUTES }, async () => {
    const { page: first } = await browser.open()
    await first.goto(reader.url)
    await first.locator('[name=password]').fill('correct horse battery')
    await first.getByRole('button', { name: 'Sign in' }).click()
    await first.getByRole('heading', { name: 'Ada, 3 open deals' }).waitFor()
    const { page: second } = await browser.open()
    await second.goto(reader.url)
    await second.getByRole('heading', { name: 'Ada, 3 open deals' }).waitFor()
    const before = await second.getByRole('listitem').allInnerTexts()

    await first.getByRole('button', { name: 'Won' }).first().click()
    await second.getByRole('heading', { name: 'Ada, 2 open deals' }).waitFor()
    const [, command] = /`(tilde\nDeal\.create [^`]*)`/.exec(readFileSync(join(ROOT, 'docs/guides/vite.md'), 'utf8'))!
    const tilde = join(ROOT, 'node_modules', '.bin', 'tilde')
    await reader.run(command!.replace('tilde\n', `${tilde} `))

    for (const { page } of [{ page: first }, { page: second }]) {
      await page.getByRole('heading', { name: 'Ada, 3 open deals' }).waitFor()
      expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
        'Loom: 8000, Prospecting, visits: 1 Won',
        'Mill: 3000, Prospecting, visits: 1 Won',
        'Bridge: 500, Prospecting, visits: 0 Won',
      ])
    }
    expect(before).toEqual([
      'Engine: 12000, Prospecting, visits: 1 Won',
      'Loom: 8000, Prospecting, visits: 1 Won',
      'Mill: 3000, Prospecting, visits: 1 Won',
    ])
    expect(await browser.closeTabs()).toEqual([])
  })

  test('its files compile, also by the settings of the template, and are built', { timeout: 5 * MINUTES }, async () => {
    await reader.run('npm run build')
    // The template has no types of Node, which the program and the settings of Vite use.
    const types = { types: ['node'], typeRoots: [join(ROOT, 'node_modules', '@types')] }
    const settings = {
      compilerOptions: {
        ...{ target: 'es2024', module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true },
        ...{ skipLibCheck: true, allowImportingTsExtensions: true },
        ...{ lib: ['es2024', 'esnext.iterator', 'dom', 'dom.iterable'], ...types },
      },
      include: ['**/*.ts'],
    }
    writeFileSync(join(reader.folder, 'tsconfig.all.json'), JSON.stringify(settings))
    await reader.run('npx tsc -p tsconfig.all.json')

    expect(readFileSync(join(reader.folder, 'dist', 'index.html'), 'utf8')).toContain('/assets/index-')
  })
})
