import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from './call.ts'

const LETTERS = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', 'é', '\n') })
const VALUES = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, LETTERS, fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(LETTERS, tie('value'), { maxKeys: 4 }),
})).value

test('JSON that is not too deep is read as it is, whatever its strings hold', () => {
  fc.assert(
    fc.property(VALUES, (value) => {
      const text = JSON.stringify(value)
      expect(parseJson(text)).toEqual(JSON.parse(text))
    }),
  )
})

test.each([64, 65])('brackets count towards the depth, and those in strings do not: %i', (depth) => {
  fc.assert(
    fc.property(LETTERS, fc.boolean(), (letters, isList) => {
      let text = JSON.stringify(letters)
      for (let i = 0; i < depth; i++) text = isList ? `[${text}, "]"]` : `{"}": ${text}, "${'{'.repeat(80)}": 1}`
      if (depth === 64) expect(parseJson(text)).toEqual(JSON.parse(text))
      else expect(() => parseJson(text)).toThrow('deeper than 64')
    }),
  )
})

test.each(['"', '"\\"', '["\\\\\\"', '{"a'])('a string without an end is not JSON: %s', (text) => {
  expect(() => parseJson(text)).toThrow('not valid JSON')
})
