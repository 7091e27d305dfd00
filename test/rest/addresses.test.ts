import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs, ROOT, type TestHost, testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { Sse } from '../sse.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost({ TILDE_BASE_URL: 'https://tilde.example/', TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => host.stop())

/** One request to a host of any name. */
function at(name: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((told, failed) => {
    const isBrowser = headers.accept?.startsWith('text/html')
    const all = { host: name, ...(!isBrowser && { authorization: `Bearer ${ROOT}` }), ...headers }
    request(`${host.url}${path}`, { headers: all }, async (response) =>
      told({ status: response.statusCode!, headers: response.headers, text: await text(response) }),
    )
      .on('error', failed)
      .end()
  })
}

verifies('meta.context', 'one record looks the same wherever it is read', async () => {
  const receiver = await Receiver.start()
  await host.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Contact.created'] })
  const live = await Sse.open(`${host.url}/~acme/events?type=Contact.created&since=now`, ROOT)

  const created = (await host.request('POST', '/~acme/Contact', { name: 'Ada' })).body
  const [streamed] = await live.got(1)
  const [delivered] = await receiver.got(1)
  const events = await Promise.all(
    ['localhost:8787', 'crm.localhost', 'somewhere.example'].map((name) =>
      at(name, '/~acme/events?type=Contact.created'),
    ),
  )
  const exported = JSON.parse((await at('crm.localhost', '/~acme/export/Contact')).text)
  const read = JSON.parse((await at('somewhere.example', `/~acme/Contact/${created.$id}`)).text)
  live.close()
  await receiver.stop()

  expect(created.$context).toBe('https://tilde.example/~acme')
  const records = [...events.map((one) => JSON.parse(one.text).results[0]), streamed!.data, delivered!.body]
  for (const record of records) expect(record.data).toEqual(created)
  expect([...exported, read]).toEqual([created, created])
})

describe('the addresses that people and programs come to first', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('a program finds an index at the address of a tenant', async () => {
    const { status, text: body } = await at('localhost:8787', '/~acme', { accept: 'application/json' })
    const index = JSON.parse(body)

    expect(status).toBe(200)
    expect(index).toMatchObject({ tenant: 'acme', $context: 'https://tilde.example/~acme' })
    expect(index.links).toMatchObject({
      openapi: 'http://localhost:8787/~acme/openapi.json',
      mcp: 'http://localhost:8787/~acme/mcp',
    })
    for (const name of ['types', 'status', 'events', 'metrics', 'openapi'])
      expect([name, (await host.request('GET', new URL(index.links[name]).pathname)).status]).toEqual([name, 200])
    expect((await host.request('GET', '/~acme/')).body.tenant).toBe('acme')
  })

  test('an index needs a key as everything of a tenant does, and has no other method', async () => {
    expect((await host.as('')('GET', '/~acme')).status).toBe(401)
    expect((await host.as(await host.key('other', 'read:all'))('GET', '/~acme')).status).toBe(403)
    expect((await host.request('PUT', '/~acme', {})).status).toBe(405)
  })

  test('a browser is sent on to the console, at a tenant or at none', async () => {
    needs('files of the console without the binding ASSETS: test/hosts/miniflare.test.ts')
    const tenant = await at('localhost', '/~acme', BROWSER)
    const none = await at('localhost', '/', BROWSER)

    expect([tenant.status, tenant.headers.location]).toEqual([302, '/console#/~acme'])
    expect([none.status, none.headers.location]).toEqual([302, '/console'])
    expect((await at('localhost', '/console', BROWSER)).headers['content-type']).toContain('text/html')
    expect(JSON.parse((await at('localhost', '/', { accept: 'application/json' })).text).service).toBe('Tildebase')
  })
})
