import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoOf, parseInstant } from './time.ts'

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T09:00Z', '2026-01-31T09:00:00.000Z'],
  ['2026-01-31T09:00:05', '2026-01-31T09:00:05.000Z'],
  ['2026-01-31 09:00:05Z', '2026-01-31T09:00:05.000Z'],
  ['2026-01-31T09:00:05.1Z', '2026-01-31T09:00:05.100Z'],
  ['2026-01-31T09:00:05.123999999Z', '2026-01-31T09:00:05.123Z'],
  ['2026-01-31T09:00:05+02:00', '2026-01-31T07:00:05.000Z'],
  ['2026-01-31T23:00:05-0130', '2026-02-01T00:30:05.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
])('%s is the instant %s', (text, iso) => {
  expect(isoOf(parseInstant(text)!)).toBe(iso)
})

test.each([
  ['', 'nothing'],
  ['2026-02-29', 'a day that is not in the calendar'],
  ['2026-13-01', 'a thirteenth month'],
  ['2026-00-10', 'no month'],
  ['2026-01-00', 'no day'],
  ['2100-02-29', 'a century that is no leap year'],
  ['0000-01-01', 'the year 0'],
  ['2026-1-1', 'digits left out'],
  ['20260131', 'the form without dashes'],
  ['2026-01-31T24:00Z', 'hour 24'],
  ['2026-01-31T09:60Z', 'minute 60'],
  ['2026-01-31T09Z', 'an hour alone'],
  ['2026-02-29T09:00:00.000Z', 'such a day with its time'],
  ['0000-01-01T09:00:00.000Z', 'such a year with its time'],
  ['2026-01-31T24:00:00.000Z', 'hour 24 with its seconds'],
  ['2026-01-31T09:60:00.000Z', 'minute 60 with its seconds'],
  ['2026-01-31T09:00:60.000Z', 'second 60'],
  ['2026-01-31Z', 'a date with a zone'],
  ['31 Jan 2026', 'another notation'],
  ['1769850000000', 'a number of milliseconds'],
  [' 2026-01-31', 'a space before it'],
])('%s is not an instant: %s', (text) => {
  expect(parseInstant(text)).toBeNull()
})

test('an instant as text is the same instant', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.parse('0100-01-01'), max: Date.parse('9999-12-31') }), (instant) => {
      expect(parseInstant(isoOf(instant))).toBe(instant)
    }),
  )
})

test.each([
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31', '0099-12-31T00:00:00.000Z'],
  ['0004-02-29T12:00:00+01:00', '0004-02-29T11:00:00.000Z'],
  ['1998-12-31T23:59:60Z', '1998-12-31T23:59:59.999Z'],
  ['1998-12-31T15:59:60.123-08:00', '1998-12-31T23:59:59.999Z'],
  ['1963-12-31T23:59:60Z', '1963-12-31T23:59:59.999Z'],
  ['2026-01-31T09:00:00.12345678901234567890Z', '2026-01-31T09:00:00.123Z'],
])('%s is %s', (text, expected) => {
  expect(isoOf(parseInstant(text)!)).toBe(expected)
})

test.each([
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '2026-01-01T22:59:60Z',
  '2026-01-01T23:58:60Z',
  '0003-02-29',
  '9999-12-31T23:59:59-01:00',
  '2026-01-01T23:59:61Z',
])('%s is not a time', (text) => {
  expect(parseInstant(text)).toBeNull()
})
