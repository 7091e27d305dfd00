import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { blobsOf, hashOf, send, until } from './content.ts'

let app: TestApp

beforeAll(async () => {
  app = await testApp({ TILDE_FILE_ORPHANS: '1s', TILDE_FILE_LIMIT: '100KiB', TILDE_FILES_TOTAL: '300KiB' })
})
afterAll(() => app.stop())

const store = (tenant: string, bytes: Uint8Array | string, key?: string) =>
  send(app, 'POST', `/~${tenant}/files`, bytes, { 'content-type': 'text/plain' }, key)

verifies('file.orphans', 'content that nothing names goes after its time; named content stays', async () => {
  await app.request('PUT', '/~keep/schema/Deal', { contract: 'file' })
  const named = await app.request('POST', '/~keep/Deal', {
    name: 'x',
    contract: { hash: (await store('keep', 'named')).body.hash },
  })
  await app.request('PUT', `/~keep/Deal/${named.body.$id}`, { contract: null })
  const other = await app.request('POST', '/~keep/Deal', { name: 'y' })
  await store('keep', 'proposed')
  await app.request('PUT', `/~keep/Deal/${other.body.$id}?propose=File`, { contract: { hash: hashOf('proposed') } })
  await store('keep', 'in the arguments of an event')
  const activity = await app.request('POST', '/~keep/Activity', { subject: 'z', type: 'Call' })
  const attachments = [{ hash: hashOf('in the arguments of an event') }]
  const logged = await app.request('POST', `/~keep/Activity/${activity.body.$id}/log`, { body: 'Hi', attachments })
  expect(logged.status).toBe(200)
  expect((await store('keep', 'orphan')).status).toBe(201)
  expect(blobsOf(app.data, 'keep').whole).toHaveLength(4)

  await until(() => blobsOf(app.data, 'keep').whole.length === 3)

  await new Promise((done) => setTimeout(done, 1_500))
  expect(blobsOf(app.data, 'keep').whole).toHaveLength(3)
  const gone = await app.request('POST', '/~keep/Deal', { name: 'x', contract: { hash: hashOf('orphan') } })
  expect(gone.status).toBe(422)
  const past = await send(app, 'GET', `/~keep/Deal/${named.body.$id}/contract?asOf=${named.body.$createdAt}`, null)
  expect(past.text).toBe('named')
})

verifies('file.erase', 'an erasure removes the bytes when no other entity names them', async () => {
  await app.request('PUT', '/~gone/schema/Contact', { scan: 'file' })
  const make = async (text: string) => {
    const { body } = await app.request('POST', '/~gone/Contact', {
      name: text,
      scan: { hash: (await store('gone', text)).body.hash },
    })
    return `/~gone/Contact/${body.$id}`
  }
  const [alone, shared, second] = [await make('alone'), await make('shared'), await make('shared')]
  expect(blobsOf(app.data, 'gone').whole).toHaveLength(2)

  expect((await app.request('POST', `${alone}/erase`, {})).status).toBe(200)
  expect((await app.request('POST', `${shared}/erase`, {})).status).toBe(200)

  await until(() => blobsOf(app.data, 'gone').whole.length === 1)
  expect((await send(app, 'GET', `${second}/scan`, null)).text).toBe('shared')
  expect((await send(app, 'GET', `${alone}/scan`, null)).status).toBe(404)
  expect((await app.request('GET', '/~gone/events')).text).not.toContain(hashOf('alone'))
  const verdict = await app.request('GET', '/operator/tenants/gone/verify')
  expect(verdict.body).toMatchObject({ ok: true, faults: [] })
  expect((await app.request('POST', `${second}/erase`, {})).status).toBe(200)
  await until(() => blobsOf(app.data, 'gone').whole.length === 0)
})

verifies('file.limit', 'a file, and all content of a tenant, have limits', async () => {
  await app.request('POST', '/~full/Contact', { name: 'x' })
  await app.request('PUT', '/~full/schema/Contact', { scan: 'file[]' })
  const { body } = await app.request('POST', '/~full/Contact', { name: 'x' })
  const up = (bytes: Uint8Array) => send(app, 'POST', `/~full/Contact/${body.$id}/scan`, bytes)
  const parts = Array.from({ length: 4 }, () => randomBytes(90 * 1_024))

  const large = await up(randomBytes(100 * 1_024 + 1))

  expect([large.status, large.body.limit]).toEqual([413, 102_400])
  expect((await up(parts[0]!)).status).toBe(200)
  expect((await up(parts[1]!)).status).toBe(200)
  expect((await up(parts[2]!)).status).toBe(200)
  const full = await up(parts[3]!)
  expect([full.status, full.body.limit]).toEqual([413, 307_200])
  // What is there already takes no room.
  expect((await up(parts[0]!)).status).toBe(200)
  expect(blobsOf(app.data, 'full')).toEqual({
    whole: [expect.any(String), expect.any(String), expect.any(String)],
    parts: [],
  })
  const tus = { 'tus-resumable': '1.0.0', 'upload-length': String(101 * 1_024) }
  expect((await send(app, 'POST', '/~full/uploads', null, tus)).status).toBe(413)
})

verifies('file.store.scope', 'content without an entity needs write on any type', async () => {
  const reader = await app.key('full', 'read:all')
  const proposer = await app.key('full', 'propose:all')
  const writer = await app.key('full', 'write:Contact')

  expect((await store('full', 'x', reader)).status).toBe(403)
  expect((await store('full', 'x', proposer)).status).toBe(403)
  expect((await store('full', 'x', writer)).status).toBe(201)
})

test('the first request to a tenant may bring content', async () => {
  expect((await store('fresh', 'first')).status).toBe(201)
  await app.request('PUT', '/~fresh/schema/Deal', { contract: 'file' })
  const made = await app.request('POST', '/~fresh/Deal', { name: 'x', contract: { hash: hashOf('first') } })
  expect(made.status).toBe(201)
})
