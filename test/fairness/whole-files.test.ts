import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

const ROWS = 20_000
const SQLITE = 'application/vnd.sqlite3'
const NDJSON = 'application/x-ndjson'
let host: TestHost
let backup: Uint8Array
let log: string

beforeAll(async () => {
  host = await testHost({}, { workers: '1' })
  const lines = Array.from({ length: ROWS }, (_, i) =>
    JSON.stringify({ name: `Person ${i}`, email: `p${i}@example.org`, title: 'x'.repeat(200) }),
  )
  const { body } = await host.request('POST', '/~big/import/Contact', lines.join('\n'), {
    'content-type': NDJSON,
  })
  expect(body.imported).toBe(ROWS)
  await host.request('POST', '/~small/Contact', { name: 'Ada' })
  const headers = { authorization: `Bearer ${ROOT}` }
  const file = await host.fetch('/operator/tenants/big/backup', { headers })
  backup = new Uint8Array(await file.arrayBuffer())
  log = (await host.request('GET', '/operator/tenants/big/log')).text
})

afterAll(() => host.stop())

/** What is done with a large tenant as a whole. Each returns its status. */
const WORK: { readonly [name: string]: () => Promise<{ readonly status: number }> } = {
  verify: () => host.request('GET', '/operator/tenants/big/verify'),
  fork: () => host.request('POST', '/operator/tenants/big/fork', { to: 'fork' }),
  backup: () => host.request('GET', '/operator/tenants/big/backup'),
  restore: () => host.request('PUT', '/operator/tenants/restored/restore', backup, { 'content-type': SQLITE }),
  'restore of a log': () => host.request('PUT', '/operator/tenants/replayed/log', log, { 'content-type': NDJSON }),
  export: () => host.request('GET', '/~big/export/Contact?format=ndjson'),
}

describe.each(Object.entries(WORK))('during the %s of a large tenant', (_, begin) => {
  verifies('slices.background', 'its own writes and its neighbour are answered, one after the other', async () => {
    let isDone = false
    const work = begin().finally(() => {
      isDone = true
    })
    let answered = 0
    while (!isDone) {
      const write = await host.request('POST', '/~big/Contact', { name: 'Meanwhile' })
      const read = await host.request('GET', '/~small/Contact')
      expect([write.status, read.status]).toEqual([201, 200])
      answered++
    }

    expect((await work).status).toBeLessThan(300)
    // A thread that does all of it at once answers the requests that came with it, and then none.
    expect(answered).toBeGreaterThan(5)
  })
})

test('a copy holds what was written while it was made', async () => {
  const fork = host.request('POST', '/operator/tenants/big/fork', { to: 'written' })
  const written: string[] = []
  let isDone = false
  void fork.finally(() => {
    isDone = true
  })
  while (!isDone) written.push((await host.request('POST', '/~big/Contact', { name: 'Meanwhile' })).body.$id)
  expect((await fork).status).toBe(201)

  const { body } = await host.request('GET', '/operator/tenants/written/verify')
  // One after the other: hundreds at once are refused.
  const there: number[] = []
  for (const id of written) there.push((await host.request('GET', `/~written/Contact/${id}`)).status)
  const missing = there.indexOf(404)

  expect(body).toMatchObject({ ok: true })
  // All up to a moment, and none after it.
  const end = missing === -1 ? there.length : missing
  expect([
    there.slice(0, end).every((status) => status === 200),
    there.slice(end).every((status) => status === 404),
  ]).toEqual([true, true])
})
