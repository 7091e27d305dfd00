import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemRandom, systemSeal } from './ports.ts'

const part = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uint8Array(),
  fc.constantFrom('', 'é'.repeat(30_000), '€'.repeat(30_000), new Uint8Array(65_536), '🌊'.repeat(70_000)),
)

test('the digest of parts is that of all their bytes, however many and however long', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const whole = createHash('sha256')
      for (const one of parts) whole.update(one)

      expect(systemSeal.sha256(...parts)).toEqual(whole.digest())
    }),
  )
})

test('the HMAC of a text is the one that OpenSSL computes, for keys and texts of any length', () => {
  // Keys of more than 64 bytes are hashed first.
  const key = fc.oneof(part, fc.uint8Array({ minLength: 60, maxLength: 70 }))
  const body = part.filter((one) => typeof one === 'string')
  fc.assert(
    fc.property(key, body, (key, body) => {
      expect(systemSeal.hmacSha256(key, body)).toEqual(createHmac('sha256', key).update(body).digest())
    }),
  )
})

test('digests are equal when all their bytes are, and of the same length', () => {
  const bytes = fc.uint8Array({ maxLength: 3, max: 1 })
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(systemSeal.equal(a, b)).toBe(Buffer.compare(a, b) === 0)
    }),
  )
})

test('random bytes are as many as were asked for, and are handed out once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 20 }), (counts) => {
      const given = counts.map((count) => Buffer.from(systemRandom.bytes(count)))

      expect(given.map(({ length }) => length)).toEqual(counts)
      const pieces = given.flatMap((bytes) =>
        Array.from({ length: Math.floor(bytes.length / 16) }, (_, i) => bytes.toString('hex', i * 16, i * 16 + 16)),
      )
      expect(new Set(pieces).size).toBe(pieces.length)
    }),
  )
})
