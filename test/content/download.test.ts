import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { person } from '../people/people.ts'
import { verifies } from '../verifies.ts'
import { hashOf, send } from './content.ts'

let app: TestApp
const BYTES = new Uint8Array(1_000_000).map((_, i) => (i * 31) % 251)

beforeAll(async () => {
  app = await testApp()
  await app.request('PUT', '/~acme/schema/Deal', { contract: 'file', papers: 'file[]' })
})
afterAll(() => app.stop())

async function dealWith(bytes: Uint8Array | string, type: string, query = ''): Promise<string> {
  const { body } = await app.request('POST', '/~acme/Deal', { name: 'Engine' })
  const path = `/~acme/Deal/${body.$id}`
  const sent = await send(app, 'POST', `${path}/contract${query}`, bytes, { 'content-type': type })
  expect(sent.status).toBe(200)
  return path
}

const get = (path: string, headers: Record<string, string> = {}, key?: string | null) =>
  send(app, 'GET', path, null, headers, key)

verifies('file.download.range', 'ETag, HEAD, Range, If-Range and If-None-Match', async () => {
  const path = `${await dealWith(BYTES, 'application/octet-stream')}/contract`
  const etag = `"${hashOf(BYTES)}"`

  const whole = await get(path, { 'accept-encoding': 'gzip, br' })
  expect(whole.headers.get('etag')).toBe(etag)
  expect(whole.headers.get('accept-ranges')).toBe('bytes')
  expect(whole.headers.get('content-length')).toBe('1000000')
  expect(hashOf(whole.bytes)).toBe(hashOf(BYTES))
  const head = await send(app, 'HEAD', path, null)
  expect([head.status, head.bytes.length, head.headers.get('content-length')]).toEqual([200, 0, '1000000'])
  expect(head.headers.get('etag')).toBe(etag)
  expect((await get(path, { 'if-none-match': etag })).status).toBe(304)
  expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200)
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 1],
    ['bytes=300000-599999', 300_000, 600_000],
    ['bytes=999990-', 999_990, 1_000_000],
    ['bytes=-7', 999_993, 1_000_000],
    ['bytes=999999-2000000', 999_999, 1_000_000],
  ] as const) {
    const part = await get(path, { range })
    expect(part.status, range).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/1000000`)
    expect(hashOf(part.bytes), range).toBe(hashOf(BYTES.slice(from, to)))
  }
  const outside = await get(path, { range: 'bytes=1000000-' })
  expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */1000000'])
  expect((await get(path, { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200)
  expect((await get(path, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206)
})

test.each(['script', 'style', 'serviceworker', 'sharedworker'])('no content is a %s of a page', async (dest) => {
  const path = `${await dealWith('alert(1)', 'text/javascript')}/contract`

  expect((await get(path, { 'sec-fetch-dest': dest })).status).toBe(403)
  expect((await get(path, { 'sec-fetch-dest': 'document' })).status).toBe(200)
})

verifies('file.download.safe', 'nothing that is stored runs in a browser', async () => {
  const shown = ['image/png', 'image/jpeg', 'image/webp', 'audio/mpeg', 'video/mp4', 'text/plain', 'application/pdf']
  const saved = [
    'text/html',
    'image/svg+xml',
    'application/xml',
    'text/xml',
    'application/xhtml+xml',
    'text/javascript',
    'application/javascript',
    'text/css',
    'application/octet-stream',
    'video/x+xml',
    'multipart/x-mixed-replace',
  ]
  for (const type of [...shown, ...saved]) {
    const path = `${await dealWith('<script>alert(1)</script>', type, '?name=a.html')}/contract`
    const plain = await get(path)
    const inline = await get(`${path}?inline=true`)
    for (const answer of [plain, inline]) {
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      const isPdf = answer === inline && type === 'application/pdf'
      expect(answer.headers.get('content-security-policy'), type).toBe(isPdf ? "default-src 'none'" : 'sandbox')
      expect(answer.headers.get('content-type')).toBe(type)
    }
    expect(plain.headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(inline.headers.get('content-disposition'), type).toMatch(shown.includes(type) ? /^inline;/ : /^attachment;/)
  }
})

verifies('file.download.asOf', 'asOf returns the content of that time', async () => {
  const path = await dealWith('first', 'text/plain')
  const { body: before } = await app.request('GET', path)
  await send(app, 'POST', `${path}/contract`, 'second')
  await app.request('PUT', path, { contract: null })

  expect((await get(`${path}/contract`)).status).toBe(404)
  expect((await get(`${path}/contract?asOf=${before.$updatedAt}`)).text).toBe('first')
  await app.request('DELETE', path)
  expect((await get(`${path}/contract?asOf=${before.$updatedAt}`)).text).toBe('first')
  expect((await get(`${path}/contract?asOf=${before.$createdAt}`)).status).toBe(404)
})

verifies(
  ['file.download.rights', 'file.foreign', 'file.isolated'],
  'content is read through entities alone',
  async () => {
    const path = await dealWith('very secret', 'text/plain')
    const hash = hashOf('very secret')
    const owned = await app.request('POST', '/~acme/Deal', { name: 'Mine', stage: 'Won' })
    const narrowed = await app.key('acme', 'write:Deal', { filter: { Deal: { stage: 'Won' } } })
    const other = await app.key('acme', 'write:Contact')
    const mine = `/~acme/Deal/${owned.body.$id}`

    expect((await get(`${path}/contract`, {}, narrowed)).status).toBe(404)
    expect((await get(`${path}/contract`, {}, other)).status).toBe(403)
    expect((await get(`${path}/contract`, {}, null)).status).toBe(401)
    for (const by of ['', '/', `/${hash}`, `?hash=${hash}`])
      expect([400, 401, 403, 404, 405]).toContain((await get(`/~acme/files${by}`, {}, narrowed)).status)
    const guess = (contract: object, key: string) => app.as(key)('PUT', mine, { contract })
    const [held, unknown] = [await guess({ hash }, narrowed), await guess({ hash: hashOf('nothing') }, narrowed)]
    expect([held.status, unknown.status]).toEqual([422, 422])
    expect(held.body.message.replace(hash, '')).toBe(unknown.body.message.replace(hashOf('nothing'), ''))
    // A sender of the same bytes has them already.
    await send(app, 'POST', '/~acme/files', 'very secret', { 'content-type': 'text/plain' }, narrowed)
    expect((await guess({ hash }, narrowed)).status).toBe(200)
    await app.request('PUT', '/~other/schema/Deal', { contract: 'file' })
    const elsewhere = await app.request('POST', '/~other/Deal', { name: 'x', contract: { hash } })
    expect(elsewhere.status).toBe(422)
  },
)

test('a hash that came into an entity as other JSON cannot be read as a file, also after its field was declared as one', async () => {
  const path = await dealWith('kept private', 'text/plain')
  const { body } = await app.request('GET', path)
  const reader = await app.key('acme', 'write:Contact')
  const made = await app.as(reader)('POST', '/~acme/Contact', { name: 'Eve', scan: body.contract })
  const contact = `/~acme/Contact/${made.body.$id}`
  const at = made.body.$createdAt

  await app.request('PUT', '/~acme/schema/Contact', { scan: 'file' })

  expect((await get(`${contact}/scan`, {}, reader)).status).toBe(404)
  await app.as(reader)('PUT', contact, { phone: '1' })
  expect((await get(`${contact}/scan`, {}, reader)).status).toBe(404)
  await app.as(reader)('PUT', contact, { scan: null })
  const back = await app.as(reader)('POST', `${contact}/rollback`, { asOf: at })
  expect(back.status).toBe(422)
  expect((await get(`${contact}/scan`, {}, reader)).status).toBe(404)
  const retyped = await app.request('POST', '/~acme/Contact', { name: 'Mal', paper: body.contract })
  expect(retyped.status).toBe(201)
  await app.request('PUT', '/~acme/schema/Contact', { scan: 'file', paper: 'json' })
  expect((await app.request('POST', '/~acme/schema/Contact/retype', { field: 'paper', to: 'file' })).status).toBe(422)
})

verifies(
  ['file.link', 'file.link.rights'],
  'a link shows the content until it expires, as far as its maker may read',
  async () => {
    const path = await dealWith('linked', 'text/plain', '?name=l.txt')
    const key = await app.key('acme', 'read:Deal')
    const link = (expires: unknown, at = `${path}/contract`) => app.as(key)('POST', `${at}/link`, { expires })

    const { body, status } = await link('10m')
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual(['expires', 'url'])
    expect(Date.parse(body.expires) - Date.now()).toBeGreaterThan(590_000)
    const shown = new URL(body.url).pathname
    const open = (at = shown) => get(at, {}, null)
    expect([(await open()).status, (await open()).text]).toEqual([200, 'linked'])
    expect((await get(shown, { range: 'bytes=0-1' }, null)).text).toBe('li')
    for (const wrong of ['8d', '169h', '0s', 'soon', 10, null])
      expect((await link(wrong)).status, String(wrong)).toBe(422)
    expect((await link('7d')).status).toBe(200)
    expect((await open(`${shown.slice(0, -4)}AAAA`)).status).toBe(404)
    expect((await open(shown.replace('~acme', '~other'))).status).not.toBe(200)
    // It shows that content, also after the next one.
    await send(app, 'POST', `${path}/contract`, 'next')
    expect((await open()).text).toBe('linked')
    const brief = await link('1s')
    await new Promise((done) => setTimeout(done, 1_100))
    expect((await open(new URL(brief.body.url).pathname)).status).toBe(404)
    const keys = (await app.request('GET', '/~acme/api-keys?scopes=read:Deal')).body.results
    for (const { $id } of keys) await app.request('POST', `/~acme/api-keys/${$id}/revoke`, {})
    expect((await open()).status).toBe(404)
    expect((await app.as(await app.key('acme', 'read:Contact'))('POST', `${path}/contract/link`, {})).status).toBe(403)
  },
)

test('a link ends when its maker is suspended, and when its entity is erased', async () => {
  const path = await dealWith('linked', 'text/plain', '?name=l.txt')
  const maker = await person(app, 'acme', { email: 'maker@example.org', role: 'Member' })
  const [theirs, ours] = await Promise.all(
    [maker.send, app.request].map(async (send) => {
      const { body } = await send('POST', `${path}/contract/link`, { expires: '10m' })
      return new URL(body.url).pathname
    }),
  )
  const shown = async () => [(await get(theirs!, {}, null)).status, (await get(ours!, {}, null)).status]

  const before = await shown()
  await app.request('POST', `/~acme/User/${maker.user.$id}/suspend`)
  const suspended = await shown()
  await app.request('POST', `${path}/erase`)

  expect([before, suspended, await shown()]).toEqual([
    [200, 200],
    [404, 200],
    [404, 404],
  ])
})
