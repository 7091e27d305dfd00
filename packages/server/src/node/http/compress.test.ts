import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compressed } from './send-answer.ts'

const bytes = new TextEncoder().encode(
  Array.from({ length: 5_000 }, (_, n) => `const a${n % 97} = ${n * n};`).join('\n'),
)
const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync }

test.each(['br', 'gzip'] as const)('a file that never changes is compressed once: %s', async (encoding) => {
  const headers = { 'content-type': 'text/javascript', 'cache-control': 'public, max-age=31536000, immutable' }
  const file = { status: 200, headers, body: bytes }

  const first = await compressed(file, encoding)
  const second = await compressed(file, encoding)

  expect(second.body).toBe(first.body)
  expect(first.headers['content-encoding']).toBe(encoding)
  expect(UNPACK[encoding](first.body as Uint8Array).equals(bytes)).toBe(true)
})
