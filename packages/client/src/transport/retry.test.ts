import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Failure, nextWait, pause } from './retry.ts'

const half = () => 0.5
const refused = (status: number, code = 'busy', retryAfter: string | null = null): Failure => ({
  kind: 'refused',
  status,
  code,
  retryAfter,
})

describe('the wait before the next try', () => {
  test('doubles with every failure, up to ten seconds, and is a random value below that', () => {
    const waits = [0, 1, 2, 3, 10, 1_000].map((failures) => nextWait({ kind: 'lost' }, failures, half))

    expect(waits).toEqual([50, 100, 200, 400, 5_000, 5_000])
  })

  test.each([
    ['a 503 is tried again', refused(503), 50],
    ['a 429 is tried again', refused(429, 'rate_limited'), 50],
    ['Retry-After in seconds is kept', refused(429, 'rate_limited', '2'), 2_050],
    ['Retry-After in the past means at once', refused(503, 'busy', 'Thu, 01 Jan 1970 00:00:00 GMT'), 50],
    ['a Retry-After that nobody can read is passed over', refused(503, 'busy', 'soon'), 50],
    ['a Retry-After beyond patience is not waited for', refused(429, 'rate_limited', '3600'), null],
    ['a query that took too long would take too long again', refused(422, 'over_budget'), null],
    ['a refusal stays one', refused(422, 'validation_error'), null],
    ['a fault of the server is not repeated', refused(500, 'internal'), null],
  ])('%s', (_, failure, expected) => {
    expect(nextWait(failure, 0, half)).toBe(expected)
  })

  test('is never negative and never above ten seconds without a Retry-After', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const wait = nextWait({ kind: 'lost' }, failures, () => chance)!
        expect(wait >= 0 && wait <= 10_000).toBe(true)
      }),
    )
  })
})

test('a pause ends with the reason of its signal', async () => {
  const controller = new AbortController()
  const waiting = pause(60_000, controller.signal)
  controller.abort(new Error('enough'))

  await expect(waiting).rejects.toThrow('enough')
  await expect(pause(60_000, controller.signal)).rejects.toThrow('enough')
})
