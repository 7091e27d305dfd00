import { expect, test } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

const TYPES = ['Contact', 'Contract', 'Content', 'Deal', 'Organization', 'Ticket']

test.each([
  ['a case', 'contact', ['Contact', 'Contract', 'Content']],
  ['the nearest first', 'contract', ['Contract', 'Contact']],
  ['a beginning', 'Org', ['Organization']],
  ['a swap of neighbours', 'Dael', ['Deal']],
  ['a missing letter', 'Tickt', ['Ticket']],
  ['nothing near', 'Spaceship', []],
])('%s is forgiven', (_, word, expected) => {
  expect(nearest(word, TYPES)).toEqual(expected)
})

test('a suggestion is made only if a candidate is similar', () => {
  expect(didYouMean('Deel', TYPES)).toBe('; did you mean Deal?')
  expect(didYouMean('x', TYPES)).toBe('')
})
