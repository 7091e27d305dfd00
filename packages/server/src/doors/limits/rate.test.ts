import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RateLimit } from './rate.ts'

/** A limit of so many requests a minute, with a clock that is moved by hand, in milliseconds. */
function limited(perMinute: number) {
  const clock = { now: 0 }
  return { clock, limit: new RateLimit(perMinute, () => clock.now) }
}

test('a key may ask so often at once, then as often as a minute allows, and hears when', () => {
  const { clock, limit } = limited(6)
  const take = () => limit.take('key')
  const left = Array.from({ length: 6 }, () => take().headers['ratelimit-remaining'])

  const refused = take()
  clock.now += 9_999
  const early = take()
  clock.now += 1
  const later = take()

  expect(left).toEqual(['5', '4', '3', '2', '1', '0'])
  expect(refused.refused).toMatchObject({ code: 'rate_limited', about: { limit: 6, retryAfter: 10 } })
  expect(refused.headers).toEqual({ 'ratelimit-limit': '6', 'ratelimit-remaining': '0', 'ratelimit-reset': '60' })
  expect(early.refused).toMatchObject({ about: { retryAfter: 1 } })
  expect([later.refused, take().refused?.code]).toEqual([null, 'rate_limited'])
})

test('keys do not share their turns, and one that was not used for long has no more than the others', () => {
  const { clock, limit } = limited(2)
  const taken = (key: string) => Array.from({ length: 4 }, () => limit.take(key).refused === null)

  expect(taken('a')).toEqual([true, true, false, false])
  expect(taken('b')).toEqual([true, true, false, false])
  clock.now += 3_600_000
  expect(taken('a')).toEqual([true, true, false, false])
})

test('however a key asks, no more is granted than a full bucket and what time has brought', () => {
  const waits = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), waits, (perMinute, waits) => {
      const { clock, limit } = limited(perMinute)
      let granted = 0
      for (const wait of waits) {
        clock.now += wait
        if (limit.take('key').refused === null) granted++
      }

      expect(granted).toBeLessThanOrEqual(perMinute + Math.ceil((clock.now / 60_000) * perMinute))
      expect(granted).toBeGreaterThanOrEqual(Math.min(waits.length, perMinute))
    }),
  )
})
