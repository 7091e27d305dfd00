import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemSeal } from './ports.ts'

const part = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uint8Array(),
  fc.constantFrom('', 'é'.repeat(30_000), new Uint8Array(65_536), '🌊'.repeat(70_000)),
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
