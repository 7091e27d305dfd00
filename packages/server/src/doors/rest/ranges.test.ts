import type { Tenant } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import type { Call } from '../call.ts'
import { rangedReply } from './ranges.ts'

const CHUNK = 1_000_003
const CHUNKS = 11
const SIZE = CHUNK * CHUNKS
const byteAt = (at: number) => (at * 31) % 251

/** A file that is too large to be held, and counts how far it was made. */
function largeFile() {
  const made = { chunks: 0 }
  async function* bytes() {
    for (let i = 0; i < CHUNKS; i++) {
      made.chunks++
      yield Uint8Array.from({ length: CHUNK }, (_, k) => byteAt(i * CHUNK + k))
    }
  }
  return { made, file: { etag: '"large"', headers: {}, bytes } }
}

const tenant = {} as Tenant
const call = (method: string, range?: string) =>
  ({ tenant, request: { method, headers: { range } } }) as unknown as Call

test('a part of a large file is made, and no more of it than is needed', async () => {
  const { made, file } = largeFile()
  const head = await rangedReply(call('HEAD'), file)
  made.chunks = 0

  const { status, headers, stream } = await rangedReply(call('GET', `bytes=${CHUNK - 5}-${CHUNK + 4}`), file)
  const got: number[] = []
  for await (const chunk of stream as AsyncIterable<Uint8Array>) got.push(...chunk)

  expect(head.headers['content-length']).toBe(String(SIZE))
  expect([status, headers['content-length'], headers['content-range']]).toEqual([
    206,
    '10',
    `bytes ${CHUNK - 5}-${CHUNK + 4}/${SIZE}`,
  ])
  expect(got).toEqual(Array.from({ length: 10 }, (_, k) => byteAt(CHUNK - 5 + k)))
  expect(made.chunks).toBe(2)
})
