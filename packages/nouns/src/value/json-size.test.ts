import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDeeper, MAX_DEPTH } from './json.ts'
import { MOST_NAMES, MOST_VALUES, tooMuch } from './json-size.ts'

const list = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`
const names = (count: number, of = (n: number) => `k${n}`) =>
  `{${Array.from({ length: count }, (_, n) => `"${of(n)}":1`).join(',')}}`

test.each([
  ['as many numbers as are allowed', list('1', MOST_VALUES - 3), null],
  ['one more than that', list('1', MOST_VALUES - 2), 'values'],
  ['a fourth as many lists, and objects', `[${list('[]', 140_000)},${list('{}', 140_000)}]`, null],
  ['more than a third as many lists', list('[]', MOST_VALUES / 3), 'values'],
  ['10,000 changes of 20 fields', list(names(20), 10_000), null],
  ['20,000 names', names(MOST_NAMES * 0.99), null],
  ['more names', names(MOST_NAMES * 1.02), 'names'],
  ['as many texts with colons and commas', list('"a:b,[{"', MOST_NAMES * 2), null],
  ['names with quotes and backslashes', names(MOST_NAMES * 1.02, (n) => `\\"${n}\\\\`), 'names'],
  ['64 levels', `${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}`, null],
  ['65 levels', `${'[{"a":'.repeat(40)}1`, 'levels'],
])('%s', (_, text, fault) => {
  expect(tooMuch(text)).toBe(fault)
})

test('a text is refused for its levels if its value is nested more deeply than an entity may be', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'max', maxDepth: 80 }, fc.string(), fc.array(tie('value'), { maxLength: 2 })),
  }))
  fc.assert(
    fc.property(value, fc.nat(80), (inner, levels) => {
      const text = `${'['.repeat(levels)}${JSON.stringify(inner)}${']'.repeat(levels)}`

      expect(tooMuch(text)).toBe(isDeeper(JSON.parse(text)) ? 'levels' : null)
    }),
  )
})
