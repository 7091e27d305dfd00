import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testApp, testHost } from '../host.ts'
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

interface Work {
  readonly begin: (nth: number) => Promise<{ readonly status: number }>
  /** The tenant whose task it is, and the step that is seen from outside. */
  readonly task: (nth: number) => string
  readonly step: 'copy' | 'verify'
}

const operate = (method: string, path: string, body?: unknown, type = 'application/json') =>
  host.request(method, `/operator/tenants/${path}`, body, { 'content-type': type })

/** What is done with a large tenant as a whole. */
const WORK: { readonly [name: string]: Work } = {
  verify: { begin: () => operate('GET', 'big/verify'), task: () => 'big', step: 'verify' },
  fork: { begin: (nth) => operate('POST', 'big/fork', { to: `fork${nth}` }), task: () => 'big', step: 'verify' },
  backup: { begin: () => operate('GET', 'big/backup'), task: () => 'big', step: 'copy' },
  restore: {
    begin: (nth) => operate('PUT', `restored${nth}/restore`, backup, SQLITE),
    task: (nth) => `restored${nth}`,
    step: 'verify',
  },
}
/** A step may be over before two requests are answered on a busy machine. Work that lets none be answered never shows it. */
const MOST_TRIES = 8

describe.each(Object.entries(WORK))('during the %s of a large tenant', (_, { begin, task, step }) => {
  verifies('slices.background', 'its own writes and its neighbour are answered', async () => {
    let isSeen = false
    for (let nth = 0; !isSeen && nth < MOST_TRIES; nth++) {
      const isWithin = async () => {
        const { body } = await operate('GET', `${task(nth)}/tasks`)
        return body.results.some(
          (one: any) => one.step === step && (step === 'verify' ? one.of > 0 : one.done < one.of),
        )
      }
      const status = await meanwhile(begin(nth), async (answer) => {
        const wasWithin = await isWithin()
        await answer()
        isSeen ||= wasWithin && (await isWithin())
      })
      expect(status).toBeLessThan(300)
    }

    expect(isSeen).toBe(true)
  })
})

test('during the restore of a log its neighbours are answered', async () => {
  const status = await meanwhile(operate('PUT', 'replayed/log', log, NDJSON), (answer) => answer())

  expect(status).toBe(201)
})

verifies(
  'slices.background',
  'an export is made piece by piece, and others are answered between two of them',
  async () => {
    const app = await testApp()
    await app.request('PUT', '/operator/tenants/big/log', log, { 'content-type': NDJSON })
    const headers = { authorization: `Bearer ${ROOT}` }
    const { body } = await app.fetch('/~big/export/Contact?format=ndjson', { headers })
    const lengths: number[] = []
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
      lengths.push(piece.length)
      expect((await app.request('GET', '/~big/Contact?limit=1')).status).toBe(200)
    }
    await app.stop()

    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(ROWS * 200)
    // Two pieces of a turn have less than 256 KiB, and one of them less than half of that.
    expect(Math.max(...lengths)).toBeLessThan(400_000)
  },
)

/** Writes to the large tenant and reads another, again and again while work is in progress. Returns its status. */
async function meanwhile(
  work: Promise<{ readonly status: number }>,
  each: (answer: () => Promise<void>) => Promise<void>,
): Promise<number> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  const answer = async () => {
    const write = await host.request('POST', '/~big/Contact', { name: 'Meanwhile' })
    const read = await host.request('GET', '/~small/Contact')
    expect([write.status, read.status]).toEqual([201, 200])
  }
  while (!isDone) await each(answer)
  return (await done).status
}

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
