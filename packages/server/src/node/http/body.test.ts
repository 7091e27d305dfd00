import { expect, test } from 'vitest'
import { Pace } from './body.ts'

test('a body of 1 KiB/s continues, whatever its pauses within the window', () => {
  const pace = new Pace(30_000)

  expect([pace.allows(1, 29_000), pace.allows(30_720, 1_000), pace.allows(30_720, 30_000)]).toEqual([true, true, true])
})

test('a body with less over a whole window does not', () => {
  const pace = new Pace(30_000)
  const drips = Array.from({ length: 30 }, () => pace.allows(1_000, 1_000))

  expect(drips).toEqual([...Array(29).fill(true), false])
})

test('time that the reader takes does not count', () => {
  const pace = new Pace(30_000)

  expect(Array.from({ length: 100 }, () => pace.allows(1, 0))).toEqual(Array(100).fill(true))
})
