import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldReader } from '../../packages/tenant/src/query/stored-fields.ts'

const names = fc.constantFrom('name', 'a', 'na"me', 'x,"name', 'na\\', 'größe', '{', '"name":', 'n,')
const texts = fc.array(fc.constantFrom('"', '\\', ',', ':', '{', '}', 'name', '"name":"', 'a', 'é', '\n', ' '), {
  maxLength: 5,
})
const values = fc.oneof(
  texts.map((parts) => parts.join('')),
  fc.constantFrom(null, true, 0, 1.5, '', [], ['a', 'name'], { name: 'inside' }, [{ a: 'b' }]),
)

test('the fields that are read from a stored state are those of the state', () => {
  fc.assert(
    fc.property(fc.dictionary(names, values), fc.array(names, { maxLength: 3 }), (state, asked) => {
      const read = fieldReader(asked)(JSON.stringify(state))

      for (const name of asked) expect([name, read[name]]).toEqual([name, state[name]])
    }),
    { numRuns: 5_000 },
  )
})
