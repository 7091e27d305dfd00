import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Seal } from '../ports.ts'
import { seededRandom } from './stored-hooks.ts'

const seal = {
  sha256: (...parts) => parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest(),
} as Pick<Seal, 'sha256'> as Seal

test('the same seed gives the same bytes, in whatever portions they are drawn', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.array(fc.nat(100), { minLength: 1 }), (seed, portions) => {
      const whole = seededRandom(seal, seed).bytes(portions.reduce((sum, count) => sum + count, 0))
      const random = seededRandom(seal, seed)

      expect(portions.flatMap((count) => [...random.bytes(count)])).toEqual([...whole])
    }),
  )
})

test('another seed gives other bytes', () => {
  const [a, b] = [1, 2].map((seed) => seededRandom(seal, Uint8Array.of(seed)).bytes(32))

  expect(a).not.toEqual(b)
})
