import { describe, expect, test } from 'vitest'
import { parseAsOf } from './as-of.ts'

const NOW = Date.UTC(2026, 0, 31, 9, 30)

describe('asOf', () => {
  test.each([
    ['2026-01-01T00:00:00Z', { at: Date.UTC(2026, 0, 1) }],
    ['2026-01-01', { at: Date.UTC(2026, 0, 1) }],
    ['now', { at: NOW }],
    ['today', { at: Date.UTC(2026, 0, 31) }],
    ['7d ago', { at: NOW - 7 * 86_400_000 }],
    [' 90m ago ', { at: NOW - 90 * 60_000 }],
    ['17', { seq: 17 }],
    [17, { seq: 17 }],
    [0, { seq: 0 }],
  ])('%j is a moment', (value, moment) => {
    expect(parseAsOf(value, NOW)).toEqual(moment)
  })

  test.each([
    '',
    'yesterday',
    '7 days ago',
    '7d',
    '-1',
    '1.5',
    -1,
    1.5,
    Number.NaN,
    true,
    null,
    {},
    '2026-13-01',
    '9'.repeat(16),
    1_700_000_000_000,
    '1700000000000',
  ])('%j is refused with the list of valid forms', (value) => {
    expect(() => parseAsOf(value, NOW)).toThrow(
      expect.objectContaining({ code: 'invalid_as_of', message: expect.stringContaining('7d ago') }),
    )
  })
})
