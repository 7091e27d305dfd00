import type { Json } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toEnd } from '../../../engine/turns.ts'
import { Redactor } from './redaction.ts'

const redactorOf = (...values: string[]) => new Redactor(new Map(values.map((value, i) => [`S${i}`, value] as const)))

test('texts without a secret are given back as they are', () => {
  const value = { a: ['b', 1, null, { c: '\\u0061' }], 'd\\n': true }

  expect(toEnd(redactorOf('hunter22').json(value))).toBe(value)
})

test('the beginning of a long secret is taken out, too', () => {
  const secret = Array.from({ length: 300 }, (_, i) => (i * 7919).toString(36)).join('')

  const [clean] = toEnd(redactorOf(secret).texts([`key: ${secret.slice(0, 200)} and ${secret}.`]))

  expect(clean).toBe('key: [secret S0] and [secret S0].')
})

test('no secret is left, wherever it is and next to whatever', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '"', '/', ' '), { minLength: 4, maxLength: 8 })
  const secret = letters.map((list) => list.join(''))
  const text = fc.array(fc.constantFrom('a', 'b', '"', '/', ' ', 'c'), { maxLength: 40 }).map((list) => list.join(''))

  fc.assert(
    fc.property(secret, secret, fc.array(text, { maxLength: 5 }), (one, other, texts) => {
      const given: Json = { list: texts, [texts[0] ?? 'x']: `${one}${other}` }
      const clean = JSON.stringify(toEnd(redactorOf(one, other).json(given)))
      const found = JSON.stringify(JSON.parse(clean.replaceAll(/\[secret S\d\]/g, '|')))

      for (const value of [one, other]) expect(found).not.toContain(JSON.stringify(value).slice(1, -1))
    }),
  )
})

test('it has a turn after each spelling, so that others wait for one search only', () => {
  const steps = redactorOf('hunter22', 'correct horse').json(['a', 'b'])
  let turns = 0
  while (!steps.next().done) turns++

  // Each of two secrets has itself, three parts of base64 and more.
  expect(turns).toBeGreaterThan(8)
})
