import { expect, test } from 'vitest'
import { monthEnds } from './months.ts'

const YEAR = 365 * 86_400_000

test('a past of some months has the ends of all of them', () => {
  const start = new Date(2026, 5, 10).getTime()
  const end = new Date(2026, 8, 20).getTime()

  const days = monthEnds(start, end).map(({ at }) => new Date(new Date(at).getTime() + 1).getMonth())

  expect(days).toEqual([6, 7, 8])
})

test('a past of many years has the ends of its newest months', () => {
  const end = new Date(2026, 8, 20).getTime()

  const months = monthEnds(end - 9 * YEAR, end)

  expect(months).toHaveLength(36)
  expect(new Date(new Date(months.at(-1)!.at).getTime() + 1)).toEqual(new Date(2026, 8, 1))
})
