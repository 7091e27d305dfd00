import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { FrameLocator, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BROWSER, type Browser, startBrowser } from '../console/browser.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { speak } from './wire.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SHOWS = { apps: true }

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  for (let i = 1; i <= 30; i++)
    await app.request('POST', '/~acme/Contact', { name: `Contact ${i}`, title: '<b>Dr</b>' })
})
afterAll(() => app.stop())

const tool = (name: string, args: object) =>
  speak(app.request, 'acme', 'tools/call', { name, arguments: args }, SHOWS).then(({ result }) => result)
const read = async (uri: string) =>
  (await speak(app.request, 'acme', 'resources/read', { uri }, SHOWS)).result.contents[0]

verifies('mcp.apps', 'the tools name their pages for a client that shows them, and for no other', async () => {
  const uris = async (declared: object) => {
    const { result } = await speak(app.request, 'acme', 'tools/list', {}, declared)
    return result.tools.map(({ _meta }: any) => _meta?.ui.resourceUri)
  }

  expect(await uris(SHOWS)).toEqual(['ui://tildebase/list', 'ui://tildebase/entity', 'ui://tildebase/changeset'])
  expect(await uris({})).toEqual([undefined, undefined, undefined])
})

test('a client with a handshake that shows pages is known by its session id', async () => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }
  const post = (method: string, params: object, headers = {}) =>
    app.request(
      'POST',
      '/~acme/mcp',
      { jsonrpc: '2.0', id: 1, method, params },
      { accept: 'application/json', ...headers },
    )
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } }

  const session = (await post('initialize', params)).headers.get('mcp-session-id')!
  const plain = (await post('initialize', { ...params, capabilities: {} })).headers.get('mcp-session-id')
  const { body } = await post('tools/list', {}, { 'mcp-session-id': session })

  expect(plain).toBeNull()
  expect(body.result.tools[0]._meta.ui.resourceUri).toBe('ui://tildebase/list')
})

test('every page is one small text of its own kind, without an address in it', async () => {
  const { result } = await speak(app.request, 'acme', 'resources/list', {}, SHOWS)

  expect(result.resources).toHaveLength(3)
  for (const { uri, mimeType } of result.resources) {
    const { text, _meta } = await read(uri)
    expect(mimeType).toBe('text/html;profile=mcp-app')
    expect(text.length).toBeLessThan(20_000)
    expect(text).not.toMatch(/https?:\/\/|(?:src|href)=/)
    expect(_meta.ui.csp).toEqual({ connectDomains: [], resourceDomains: [] })
  }
})

describe.skipIf(BROWSER === null)('in a host with the official bridge', () => {
  let browser: Browser
  let page: Page
  let faults: string[]
  const opened: string[] = []
  beforeAll(async () => {
    browser = await startBrowser()
    const tab = await browser.open()
    page = tab.page
    faults = tab.faults
    const built = await build({
      configFile: false,
      logLevel: 'error',
      root: import.meta.dirname,
      build: {
        write: false,
        lib: { entry: join(import.meta.dirname, 'app-host.ts'), formats: ['es'] },
        rolldownOptions: { output: { codeSplitting: false } },
      },
    })
    const [{ output }] = built as unknown as [{ output: [{ code: string }] }]
    await page.exposeFunction('callTool', ({ name, arguments: args }: any) => tool(name, args))
    await page.exposeFunction('openLink', (url: string) => void opened.push(url))
    await page.setContent('<!doctype html><html lang="en"><title>Host</title><body></body></html>')
    await page.addScriptTag({ type: 'module', content: output[0].code })
    await page.waitForFunction(() => 'showApp' in window)
  })
  afterAll(async () => {
    await browser.close()
    expect(faults).toEqual([])
  })

  async function show(name: string, args: Record<string, unknown>, theme = 'light'): Promise<FrameLocator> {
    const result = await tool(name, args)
    const names: Record<string, string> = { search: 'list', fetch: 'entity', do: 'changeset' }
    const { text: html } = await read(`ui://tildebase/${names[name]}`)
    await page.evaluate((given) => window.showApp(given as never), { html, input: args, result, theme })
    return page.frameLocator('iframe')
  }

  verifies('mcp.apps.host', 'a list is a table, with more of it on demand', async () => {
    const frame = await show('search', { type: 'Contact', sort: { name: 1 }, limit: 20 })
    await expect.poll(() => frame.locator('tbody tr').count()).toBe(20)

    await frame.getByRole('button', { name: 'More' }).click()

    await expect.poll(() => frame.locator('tbody tr').count()).toBe(30)
    expect(await frame.locator('tbody').innerText()).toContain('<b>Dr</b>')
    expect(await findings()).toEqual([])
  })

  test('an entity has its history, and the slider shows how it was', async () => {
    const { body } = await app.request('POST', '/~acme/Contact', { name: 'Before' })
    await app.request('PUT', `/~acme/Contact/${body.$id}`, { name: 'After' })
    const frame = await show('fetch', { type: 'Contact', id: body.$id })
    await frame.getByRole('heading', { name: 'After' }).waitFor()

    await frame.getByRole('slider').fill('0')

    await frame.getByRole('cell', { name: 'Before' }).waitFor()
    expect(await frame.locator('table', { hasText: 'History' }).locator('tbody tr').count()).toBe(2)
    expect(await findings()).toEqual([])
  })

  test('a proposal is a diff, whose decision opens the page of the service', async () => {
    const code = "await $.Contact.create({ name: 'Proposed' })"
    const frame = await show('do', { code, propose: 'Add one' }, 'dark')
    await frame.getByRole('cell', { name: 'Proposed' }).waitFor()

    await frame.getByRole('button', { name: 'Approve…' }).click()

    await expect.poll(() => opened.length).toBe(1)
    expect(opened[0]).toMatch(/\/~acme\/decide\/changeset_\w+\?signature=/)
    expect(await findings()).toEqual([])
  })

  test('a page follows the theme of its host', async () => {
    const frame = await show('search', { type: 'Contact', limit: 1 })
    const root = frame.locator('html')
    await expect.poll(() => root.getAttribute('data-theme')).toBe('light')

    await page.evaluate(() => {
      const variables = { '--color-text-primary': 'rgb(1, 2, 3)' }
      window.setContext({ theme: 'dark', styles: { variables } })
    })

    await expect.poll(() => root.getAttribute('data-theme')).toBe('dark')
    expect(await frame.locator('body').evaluate((body) => getComputedStyle(body).color)).toBe('rgb(1, 2, 3)')
  })

  verifies('mcp.apps.offline', 'a page sends no request, and cannot', async () => {
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    const frame = await show('search', { type: 'Contact', limit: 1 })
    await frame.locator('tbody tr').waitFor()

    const reached = await frame.locator('html').evaluate(() =>
      fetch('http://127.0.0.1:9/').then(
        () => true,
        () => false,
      ),
    )
    faults.splice(0)

    expect([asked, reached]).toEqual([[], false])
  })

  /** What axe finds in the page that is shown. */
  async function findings(): Promise<string[]> {
    const frame = page.frames().at(-1)!
    await frame.evaluate(AXE)
    return frame.evaluate(async () => {
      const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ['violations'] })
      return violations
        .filter(({ impact }: any) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html).join(' ')}`)
    })
  }
})
