import fc from 'fast-check'
import { snappyUncompress } from 'hyparquet'
import { expect, test } from 'vitest'
import { snappy } from './snappy.ts'

/** Pieces that repeat near and far, with bytes in between that do not. */
const pieces = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.tuple(fc.nat(3), fc.nat(200)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
  fc.constantFrom('contact_', 'person@example.org', '2026-11-16T').map((text) => new TextEncoder().encode(text)),
  fc
    .tuple(fc.nat(255), fc.nat(70_000))
    .map(([seed, length]) => Uint8Array.from({ length }, (_, i) => (i * i * seed) >> 7)),
)
const inputs = fc.array(pieces, { maxLength: 40 }).map((all) => Uint8Array.from(all.flatMap((one) => [...one])))

test('what is compressed is read again by another implementation', () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const output = new Uint8Array(input.length)
      snappyUncompress(snappy(input), output)

      expect(Buffer.compare(output, input)).toBe(0)
    }),
  )
})

test('texts that share their beginnings become smaller, and bytes by chance hardly larger', () => {
  const alike = new TextEncoder().encode(Array.from({ length: 1_000 }, (_, i) => `contact_${i}@example.org`).join(''))
  const chance = Uint8Array.from({ length: 100_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 13)

  expect(snappy(alike).length).toBeLessThan(alike.length / 2)
  expect(snappy(chance).length).toBeLessThan(chance.length * 1.01)
})
