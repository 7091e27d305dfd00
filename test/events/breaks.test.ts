import { afterAll, beforeAll, describe, expect } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { Sse } from '../sse.ts'
import { verifies } from '../verifies.ts'

/** How many events are written while readers come and go; `npm run test:long` writes a hundred thousand. */
const EVENTS = Number(process.env.TILDE_EVENTS ?? 2_000)
const MOST_AT_ONCE = 200
const READERS = 3

let host: TestHost

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

describe('while events are written, a reader that leaves again and again has had each of them once and in order', () => {
  verifies('live.resume', 'over a live stream that it resumes by Last-Event-ID', async () => {
    await Promise.all([write('live'), ...Array.from({ length: READERS }, () => follow('live'))])
  })

  verifies('stream.cursor', 'over long polls that it breaks off and asks for again', async () => {
    await Promise.all([write('poll'), ...Array.from({ length: READERS }, () => poll('poll'))])
  })
})

async function write(tenant: string): Promise<void> {
  for (let left = EVENTS; left > 0; ) {
    const count = Math.min(left, 1 + chance(MOST_AT_ONCE))
    const list = Array.from({ length: count }, (_, i) => ({ name: `e${i}`, type: 'track' }))
    const { status, text } = await host.request('POST', `/~${tenant}/events`, list)
    if (status !== 201) throw new Error(text)
    left -= count
  }
}

async function follow(tenant: string): Promise<void> {
  let seen = 0
  while (seen < EVENTS) {
    const headers: Record<string, string> = seen === 0 ? {} : { 'last-event-id': String(seen) }
    const sse = await Sse.open(`${host.url}/~${tenant}/events`, ROOT, headers)
    await sse.got(Math.min(chance(EVENTS / 20), EVENTS - seen), 60_000)
    sse.close()
    await sse.ended
    seen = after(
      seen,
      sse.messages.map(({ id }) => Number(id)),
    )
  }
}

async function poll(tenant: string): Promise<void> {
  let seen = 0
  while (seen < EVENTS) {
    const signal = chance(3) === 0 ? AbortSignal.timeout(chance(20)) : null
    const query = `cursor=${seen}&wait=30&limit=${1 + chance(1_000)}&total=false`
    const page = await fetch(`${host.url}/~${tenant}/events?${query}`, {
      headers: { authorization: `Bearer ${ROOT}` },
      signal,
    })
      .then((response) => response.json())
      .catch((reason) => {
        if (signal?.aborted) return null
        throw reason
      })
    if (page === null) continue
    seen = after(
      seen,
      page.results.map(({ seq }: { seq: number }) => seq),
    )
    expect(page.cursor).toBe(String(seen))
  }
}

/** The last of the seqs, which must continue without a gap and without one that was there before. */
function after(seen: number, seqs: readonly number[]): number {
  expect(seqs).toEqual(seqs.map((_, i) => seen + i + 1))
  return seen + seqs.length
}

function chance(below: number): number {
  return Math.floor(Math.random() * below)
}
