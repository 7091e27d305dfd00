import { expect, test } from 'vitest'
import { isPattern, matchesEvent } from './event.ts'

test.each([
  ['*', true],
  ['*.created', true],
  ['Contact.*', true],
  ['Contact.created', true],
  ['*.*', true],
  ['Contact', false],
  ['', false],
  ['Contact.', false],
  ['.created', false],
  ['Con*.created', false],
  ['Contact.created.twice', false],
])('%s can be subscribed to: %s', (text, expected) => {
  expect(isPattern(text)).toBe(expected)
})

test.each([
  ['*', true],
  ['*.qualified', true],
  ['Contact.*', true],
  ['Contact.qualified', true],
  ['contact.Qualified', true],
  ['Contact', true],
  ['*.created', false],
  ['Deal.*', false],
  ['Deal.qualified', false],
  ['Contact.qualifie', false],
])('%s receives Contact.qualified: %s', (pattern, expected) => {
  expect(matchesEvent(pattern, 'Contact', 'qualified')).toBe(expected)
})
