import fc from 'fast-check'
import { expect, test } from 'vitest'
import { regexTest } from '../../packages/tenant/src/query/words/regex.ts'
import { requiredText } from '../../packages/tenant/src/query/words/required-text.ts'

const pieces = fc.constantFrom(
  ...['ab', 'a', 'b', 'c', ' ', '-', '.', '^', '$', '+', '*', '?', '{2}', '{0,1}', '{', '}', '(', ')', '(?:', '(?i)'],
  ...['[ab]', '[^a]', '[]a]', '[[:alpha:]ab]', '\\d', '\\w', '\\Qab\\E', '\\.', '|', '@', ',', ';', ':', '/', '_', 'é'],
  ...['\\b', '\\-', '\\pN', '\\x41', '+?', '(?P<x>', '[^]a]'],
)
const patterns = fc.array(pieces, { minLength: 1, maxLength: 7 }).map((all) => all.join(''))
const texts = fc.array(fc.constantFrom('a', 'b', 'ab', 'c', ' ', '-', '.', '1', 'A', 'é', '@', '{', '}'), {
  maxLength: 8,
})

test('every text that a pattern matches contains the required text of the pattern', () => {
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 10, maxLength: 10 }), (pattern, all) => {
      const required = requiredText(pattern)
      fc.pre(required !== null)
      const matches = testOf(pattern)
      fc.pre(matches !== null)

      for (const text of all.map((parts) => parts.join(''))) if (matches!(text)) expect(text).toContain(required)
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
  ['abc{2}d', 'abccd'],
  ['abc{2,}d', 'abc'],
  ['(ab){1000}', 'ab'],
  ['abc+d', 'abc'],
  ['ab{', 'ab'],
  ['foo|bar', null],
  ['(foo|bar)baz', 'baz'],
  ['foo(bar)?', 'foo'],
  ['foo[0-9]', 'foo'],
  ['foo[]x]bar', 'foo'],
  ['[[:alpha:]]ab', 'ab'],
  ['(a+)+b$', 'ab'],
  ['(?:ab)+', 'ab'],
  ['(?P<name>ab)c', 'abc'],
  ['ab(?i)*', null],
  ['abc+(?i)*', null],
  ['(?i)word', null],
  ['(?i:word)', null],
  ['ab?\\d', null],
  ['\\bword', 'word'],
  ['a\\-b\\.c', 'a-b'],
  ['\\x41word', null],
  ['\\Qab\\E', null],
  ['\\pNword', null],
  ['ab**', null],
  ['(ab', null],
  ['ab)', null],
  ['a', null],
])('the required text of %s is %s', (pattern, required) => {
  expect(requiredText(pattern)).toBe(required)
})

function testOf(pattern: string): ((text: string) => boolean) | null {
  try {
    return regexTest(pattern, '')
  } catch {
    return null
  }
}
