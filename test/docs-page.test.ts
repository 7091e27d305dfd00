import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partOf } from '../packages/server/src/doors/docs/part.js'
import { BROWSER, type Browser, startBrowser, type Tab } from './console/browser.ts'
import { barriers, htmlFaults } from './console/judges.ts'
import { type TestHost, testHost } from './host.ts'
import { authorizePath, pkce, register } from './people/agents.ts'
import { invite, person } from './people/people.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const HTML = { accept: 'text/html,application/xhtml+xml' }

test.each(['/docs', '/~acme/docs', '/crm/~acme/docs'])('%s is a page that needs no key to look at', async (path) => {
  const { status, headers, text } = await host.as('')('GET', path, undefined, HTML)

  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  expect(text).toContain('<title>Tildebase: the API</title>')
})

test('the page loads its own files and nothing else, and holds no script itself', async () => {
  const { text } = await host.as('')('GET', '/docs', undefined, HTML)
  const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)

  expect(links).toEqual(['/docs/swagger-ui.css', '/docs/docs.css', '/docs/swagger-ui.js', '/docs/docs.js'])
  expect(text).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style=/)
  for (const link of links) expect((await host.as('')('GET', link)).status).toBe(200)
})

test('the page has a description, and a form that never puts a key into an address', async () => {
  const { text } = await host.as('')('GET', '/docs', undefined, HTML)

  expect(text.match(/<form[^>]*>/g)).toEqual([expect.stringContaining('method="post"')])
  expect(text).toContain('<meta name="description"')
})

test('a program that asks for docs means a type of that name', async () => {
  expect((await host.as('')('GET', '/~acme/docs')).status).toBe(401)
  await host.request('PUT', '/~acme/schema/Doc', { title: 'string!' })
  await host.request('POST', '/~acme/docs', { title: 'Notes' })

  expect((await host.request('GET', '/~acme/docs')).body.total).toBe(1)
})

test('Swagger UI is sent compressed, or as it is to clients that do not take gzip, and once per version', async () => {
  const packed = await host.as('')('GET', '/docs/swagger-ui.js', undefined, { 'accept-encoding': 'gzip' })
  const plain = await host.as('')('GET', '/docs/swagger-ui.js', undefined, { 'accept-encoding': 'identity' })
  const etag = plain.headers.get('etag')!
  const again = await host.as('')('GET', '/docs/swagger-ui.js', undefined, { 'if-none-match': etag })

  expect([packed.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(['gzip', null])
  expect(packed.text).toBe(plain.text)
  expect(plain.text).toContain('SwaggerUIBundle')
  expect(again.status).toBe(304)
})

test('a part of the document has what its paths refer to, and nothing else', async () => {
  const { body } = await host.request('GET', '/~acme/openapi.json')
  const part = partOf(body, (path: string) => path.startsWith('/Contact'))

  expect((await new Validator().validate(structuredClone(part))).errors).toBeUndefined()
  expect(part.components.schemas).toHaveProperty('ContactDraft')
  expect(part.components.schemas).not.toHaveProperty('InvoiceDraft')
  expect(JSON.stringify(part).length).toBeLessThan(JSON.stringify(body).length / 3)
})

let people = 0

/** The pages of the service itself, and the cookie of the person who sees them. */
async function ownPages(): Promise<{ readonly paths: readonly string[]; readonly cookie: string }> {
  const { cookie } = await person(host, 'pages', { email: `ada${++people}@example.org`, role: 'Admin' })
  const token = await invite(host, 'pages', { name: 'Eve', email: `eve${people}@example.org`, role: 'Member' })
  const client_id = await register(host, 'pages')
  const { body } = await host.request('GET', '/~pages/events?limit=1')
  const agent = host.as(await host.key('pages', 'propose:all'))
  const proposal = await agent(
    'POST',
    '/~pages/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'do', arguments: { code: '$.Contact.create({ name: "Ada" })', propose: 'One more' } },
    },
    { accept: 'application/json, text/event-stream' },
  )
  const decide = /https?:[^"\\\s]+(\/~pages\/decide\/[^"\\\s]+)/.exec(proposal.text)![1]!
  return {
    cookie,
    paths: [
      '/docs',
      '/console',
      '/~pages/sign-in',
      `/~pages/invitation#${token}`,
      '/~pages/oauth/device',
      authorizePath('pages', { client_id, code_challenge: pkce().challenge }),
      decide,
      `/~pages/proof/${body.results[0].id}?format=html`,
    ],
  }
}

test('html-validate finds no error in the pages of the service', async () => {
  const { paths, cookie } = await ownPages()
  const found: { [path: string]: string[] } = {}
  for (const path of paths) {
    const { status, text } = await host.as('')('GET', path.split('#')[0]!, undefined, { ...HTML, cookie })
    expect(status, path).toBe(200)
    expect(text, path).toContain('<meta name="description"')
    found[path] = await htmlFaults(text)
  }

  expect(found).toEqual(Object.fromEntries(paths.map((path) => [path, []])))
})

test('nothing can be sent to it', async () => {
  expect((await host.as('')('POST', '/docs', {})).status).toBe(405)
})

describe.skipIf(BROWSER === null)('in a browser, with a key of the tenant', () => {
  let browser: Browser
  let tab: Tab
  beforeAll(async () => {
    await host.request('PUT', '/~acme/schema/Boat', { name: 'string!', sail: { event: 'sailed' } })
    await host.request('POST', '/~acme/Boat', { name: 'Beagle' })
    browser = await startBrowser()
    tab = await browser.open()
    await tab.page.goto(`${host.url}/~acme/docs`)
  })
  afterAll(async () => {
    expect(tab.faults).toEqual([])
    await browser.close()
  })

  test('axe finds no barrier in the pages of the service', async () => {
    const { paths, cookie } = await ownPages()
    const { page } = await browser.open()
    const [name = '', value = ''] = cookie.split('=', 2)
    await page.context().addCookies([{ name, value, url: host.url }])
    const found: { [path: string]: string[] } = {}
    for (const path of paths) {
      // The proof is a file, which a browser keeps instead of showing it.
      if (path.includes('/proof/')) await page.setContent((await host.as('')('GET', path, undefined, { cookie })).text)
      else await page.goto(`${host.url}${path}`)
      found[path] = await barriers(page)
    }
    await page.close()

    expect(found).toEqual(Object.fromEntries(paths.map((path) => [path, []])))
  })

  const submit = async (key: string) => {
    await tab.page.getByLabel('Key').fill(key)
    await tab.page.getByRole('button', { name: 'Show' }).click()
  }
  const operation = (name: string) => tab.page.getByRole('navigation').getByRole('button', { name, exact: true })

  test('a wrong key is reported in a sentence', async () => {
    await submit('wrong')

    await tab.page.getByText('Send a valid key of this service').waitFor()
  })

  test("the tenant's own operations are listed, found, and tried", async () => {
    const { page } = tab
    await submit(await host.key('acme', 'write:all'))
    await page.getByLabel('Find').fill('boat sail')
    await operation('POST /Boat/{id}/sail').waitFor()
    expect(await operation('GET /Boat').count()).toBe(0)
    await page.getByLabel('Find').fill('boat')

    await operation('GET /Boat').click()
    const block = page.locator('#operations-custom-get_Boat')
    await block.getByText('A filter in the query language, as JSON.').waitFor()
    const filter = block.locator('tr[data-param-name="filter"] input')
    await filter.fill('{"name": "Beagle"}')
    await block.getByRole('button', { name: 'Execute' }).click()

    await block.locator('.live-responses-table', { hasText: '"total": 1' }).waitFor()
    expect(await block.locator('.live-responses-table').innerText()).toContain('"name": "Beagle"')
  })

  test('a write can be tried from its example', async () => {
    const { page } = tab

    await operation('POST /Boat').click()
    const block = page.locator('#operations-custom-post_Boat')
    const body = block.locator('textarea.body-param__text')
    await body.waitFor()
    expect(JSON.parse(await body.inputValue())).toEqual({ name: 'Ada Lovelace' })
    await body.fill('{"name": "Endeavour"}')
    await block.getByRole('button', { name: 'Execute' }).click()

    await block.locator('.live-responses-table', { hasText: 'Endeavour' }).waitFor()
    expect((await host.request('GET', '/~acme/Boat?name=Endeavour')).body.total).toBe(1)
  })

  test('no parameter is sent that was not filled in', async () => {
    const { page } = tab
    const asked = page.waitForRequest((request) => request.url().includes('/~acme/Boat'))

    await operation('GET /Boat').click()
    await page.locator('#operations-custom-get_Boat').getByRole('button', { name: 'Execute' }).click()

    expect([...new URL((await asked).url()).searchParams.keys()].toSorted()).toEqual(['limit', 'offset'])
  })

  test('nothing runs that is written into the page', async () => {
    const { page, faults } = tab
    const ran = await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      return 'ran' in window
    })

    expect(ran).toBe(false)
    await expect.poll(() => faults.splice(0).join()).toContain('Content Security Policy')
  })
})
