import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { guessNumbers, readNumber } from '../values/number-format.ts'
import { guessDates, readDate, readMoment } from './date-format.ts'

const amounts = fc.array(fc.integer({ min: -99_999_999, max: 99_999_999 }), { minLength: 1, maxLength: 40 })
const days = fc.date({
  min: new Date('1971-01-01T00:00:00Z'),
  max: new Date('2068-12-31T00:00:00Z'),
  noInvalidDate: true,
})

describe('the format of a column', () => {
  // Intl is the judge: it writes the cells, and the numbers must come back.
  test.each([
    ['en-US', 'point', 'de-DE'],
    ['de-DE', 'comma', 'en-US'],
    ['de-CH', 'point', 'de-DE'],
    ['fr-FR', 'comma', 'en-US'],
  ] as const)('numbers of %s come back, whatever the reader is used to', (locale, format, reader) => {
    const writer = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 })
    fc.assert(
      fc.property(amounts, (cents) => {
        const cells = cents.map((one) => writer.format(one / 100))

        expect(guessNumbers(cells, reader)).toEqual({ format, isSure: true })
        expect(cells.map((cell) => readNumber(cell, format))).toEqual(cents.map((one) => one / 100 || 0))
      }),
    )
  })

  test('one cell with a comma decides what 1.200 means in the same column', () => {
    expect(guessNumbers(['1.200', '12,5'], 'en-US')).toEqual({ format: 'comma', isSure: true })
    expect(readNumber('1.200', 'comma')).toBe(1_200)
    expect(guessNumbers(['1.200', '12.5'], 'de-DE')).toEqual({ format: 'point', isSure: true })
  })

  test('a column that could mean two things is not sure, and follows the reader', () => {
    expect(guessNumbers(['1.200', '3.400'], 'de-DE')).toEqual({ format: 'comma', isSure: false })
    expect(guessNumbers(['1.200', '3.400'], 'en-GB')).toEqual({ format: 'point', isSure: false })
    expect(guessNumbers(['12', '7'], 'en-GB').isSure).toBe(true)
    expect(guessDates(['01/02/2026', '03/04/2026'], 'en-US')).toEqual({ format: 'mdy', isSure: false })
    expect(guessDates(['01/02/2026', '03/04/2026'], 'en-GB')).toEqual({ format: 'dmy', isSure: false })
  })

  test.each([
    ['en-US', 'mdy', 'en-GB'],
    ['en-GB', 'dmy', 'en-US'],
    ['de-DE', 'dmy', 'en-US'],
    ['sv-SE', 'ymd', 'en-US'],
  ] as const)('days of %s come back', (locale, format, reader) => {
    const options = { year: 'numeric', month: '2-digit', day: '2-digit', timeZone: 'UTC' } as const
    const writer = new Intl.DateTimeFormat(locale, options)
    fc.assert(
      fc.property(fc.array(days, { minLength: 1, maxLength: 30 }), (dates) => {
        // A day after the twelfth tells the order.
        const all = [...dates, new Date('2026-06-15T00:00:00Z')]
        const cells = all.map((date) => writer.format(date))

        expect(guessDates(cells, reader)).toEqual({ format, isSure: true })
        expect(cells.map((cell) => readDate(cell, format))).toEqual(all.map((date) => date.toISOString().slice(0, 10)))
      }),
    )
  })

  test.each([
    ['1.2.2026 14:30', 'dmy', new Date(2026, 1, 1, 14, 30)],
    ['2/1/2026 2:30 PM', 'mdy', new Date(2026, 1, 1, 14, 30)],
    ['2/1/2026 12:05 AM', 'mdy', new Date(2026, 1, 1, 0, 5)],
    ['2026-02-01T14:30:00Z', 'ymd', new Date('2026-02-01T14:30:00Z')],
    ['2026-02-01 14:30:00 +02:00', 'ymd', new Date('2026-02-01T12:30:00Z')],
    ['15 June 2026', 'ymd', new Date(2026, 5, 15)],
    ['15.06.26', 'dmy', new Date(2026, 5, 15)],
  ] as const)('%s is a moment', (cell, format, moment) => {
    expect(readMoment(cell, format)).toBe(moment.toISOString())
  })

  test.each(['31.02.2026', '2026-13-01', '1.2.3.4', 'tomorrow', '10:30', '5/6', '01.01.2026 25:00'])(
    '%s is not a date',
    (cell) => {
      expect((['ymd', 'dmy', 'mdy'] as const).map((format) => readDate(cell, format))).toEqual([null, null, null])
    },
  )

  test.each(['a lot', '12 pieces', 'v1.2', '1.2.3', '1,2,3', '', '-', 'B12'])('%s is not a number', (cell) => {
    expect([readNumber(cell, 'point'), readNumber(cell, 'comma')]).toEqual([null, null])
  })

  test.each([
    ['€ 12500', 'point', 12_500],
    ['12.500 €', 'comma', 12_500],
    ['EUR 1.234,50', 'comma', 1_234.5],
    ["1'234.50", 'point', 1_234.5],
    ['(1,200.50)', 'point', -1_200.5],
    ['12 %', 'point', 12],
    ['1.2e3', 'point', 1_200],
  ] as const)('%s is a number', (cell, format, value) => {
    expect(readNumber(cell, format)).toBe(value)
  })
})
