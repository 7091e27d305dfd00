import fc from 'fast-check'
import { expect, test } from 'vitest'
import { literalOf } from '../../packages/tenant/src/query/needle.ts'
import { regexTest } from '../../packages/tenant/src/query/regex.ts'

const pieces = fc.constantFrom(
  ...['ab', 'a', 'b', 'c', ' ', '-', '.', '^', '$', '+', '*', '?', '{2}', '{0,1}', '{', '}', '(', ')', '(?:', '(?i)'],
  ...['[ab]', '[^a]', '[]a]', '[[:alpha:]ab]', '\\d', '\\w', '\\Qab\\E', '\\.', '|', '@', ',', ';', ':', '/', '_', 'é'],
)
const patterns = fc.array(pieces, { minLength: 1, maxLength: 7 }).map((all) => all.join(''))
const texts = fc.array(fc.constantFrom('a', 'b', 'ab', 'c', ' ', '-', '.', '1', 'A', 'é', '@', '{', '}'), {
  maxLength: 8,
})

test('every text that a pattern matches contains the literal of the pattern', () => {
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 10, maxLength: 10 }), (pattern, all) => {
      const literal = literalOf(pattern)
      fc.pre(literal !== null)
      const matches = testOf(pattern)
      fc.pre(matches !== null)

      for (const text of all.map((parts) => parts.join(''))) if (matches!(text)) expect(text).toContain(literal)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['word', 'word'],
  ['^Ada L', 'Ada L'],
  ['first.*second', 'second'],
  ['colou?r', 'colo'],
  ['ab*', null],
  ['abc{0,2}', 'ab'],
  ['abc+d', 'abc'],
  ['foo|bar', null],
  ['foo(bar)?', 'fo'],
  ['foo[0-9]', 'fo'],
  ['ab(?i)*', null],
  ['abc+(?i)*', 'ab'],
  ['ab?\\d', null],
  ['(?i)word', null],
  ['\\bword', null],
  ['a', null],
])('the literal of %s is %s', (pattern, literal) => {
  expect(literalOf(pattern)).toBe(literal)
})

function testOf(pattern: string): ((text: string) => boolean) | null {
  try {
    return regexTest(pattern, '')
  } catch {
    return null
  }
}
