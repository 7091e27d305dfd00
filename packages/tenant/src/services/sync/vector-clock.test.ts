import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, joined, parseVectorClock } from './vector-clock.ts'

const clock = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), fc.nat(3), { noNullPrototype: true })

test('a joined clock covers its parts, and every clock that covers them covers it', () => {
  fc.assert(
    fc.property(fc.array(clock, { maxLength: 3 }), clock, (parts, other) => {
      const all = joined(parts)

      expect(parts.every((part) => covers(all, part))).toBe(true)
      expect(covers(other, all)).toBe(parts.every((part) => covers(other, part)))
    }),
  )
})

test('clocks that cover each other have seen the same', () => {
  fc.assert(
    fc.property(clock, clock, (a, b) => {
      const seen = (one: typeof a) => JSON.stringify(Object.entries(joined([one])).filter(([, count]) => count > 0))

      expect(covers(a, b) && covers(b, a)).toBe(seen(a) === seen(b))
    }),
  )
})

test.each([
  ['is left out', undefined, null],
  ['is null', null, null],
  ['is empty', {}, null],
  ['has counters', { a: 0, b: 7 }, { a: 0, b: 7 }],
  ['is a list', [], undefined],
  ['is a text', 'a', undefined],
  ['counts below zero', { a: -1 }, undefined],
  ['counts in halves', { a: 0.5 }, undefined],
  ['counts in texts', { a: '1' }, undefined],
  ['names too many', Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, 1])), undefined],
])('a clock from outside that %s is taken for what it is', (_, given, expected) => {
  expect(parseVectorClock(given)).toEqual(expected)
})
