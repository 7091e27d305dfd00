import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { textOf } from './text.ts'

async function lengthOf(body: Uint8Array, encoding?: string): Promise<number> {
  let length = 0
  for await (const text of textOf(body, encoding, Number.POSITIVE_INFINITY)) length += text.length
  return length
}

test('a zipped body that grows beyond measure is refused, however much an import may have', async () => {
  const rows = Array.from({ length: 600_000 }, (_, i) => JSON.stringify({ name: `Person ${i}`, score: i * 7 })).join(
    '\n',
  )
  const zeros = Buffer.alloc(64 * 1_048_576, ' ')

  await expect(lengthOf(gzipSync(zeros), 'gzip')).rejects.toMatchObject({ code: 'too_large' })
  expect(await lengthOf(gzipSync(rows), 'gzip')).toBe(rows.length)
  expect(await lengthOf(zeros)).toBe(zeros.length)
})
