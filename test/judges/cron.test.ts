import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextTime, parseSchedule, type Schedule } from '../../packages/tenant/src/services/workflows/schedule.ts'

/** A field of a schedule: a star, a value, a list, a range, or steps. */
function field(least: number, most: number): fc.Arbitrary<string> {
  const value = fc.integer({ min: least, max: most })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const every = fc.integer({ min: 1, max: Math.ceil((most - least) / 2) })
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    value.map(String),
    range,
    every.map((n) => `*/${n}`),
    fc.tuple(range, every).map(([of, n]) => `${of}/${n}`),
    // The judge refuses a list that names a value twice.
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((all) => all.join(',')),
  )
}

/** Days of every month, so that each schedule comes soon. */
const schedules = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '))
const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })

/** The next five times of a schedule. */
function ours(text: string, after: Date): string[] {
  const schedule = parseSchedule(text) as Schedule
  const times: string[] = []
  for (let last = after.getTime(); times.length < 5; ) {
    last = nextTime(schedule, last)!
    times.push(new Date(last).toISOString())
  }
  return times
}

function theirs(cron: string, tz: string, after: Date): string[] {
  const times = CronExpressionParser.parse(cron, { tz, currentDate: after })
  return Array.from({ length: 5 }, () => times.next().toDate().toISOString())
}

test.each(['UTC', 'Asia/Tokyo', 'America/Phoenix'])('schedules in %s come when cron-parser expects them', (zone) => {
  fc.assert(
    fc.property(schedules, moments, (cron, after) => {
      expect(ours(`${cron} ${zone}`, after)).toEqual(theirs(cron, zone, after))
    }),
    { numRuns: 300 },
  )
})

test('so do schedules in a zone with summer time, on days without a change', () => {
  const summer = fc.date({ min: new Date('2026-05-01'), max: new Date('2026-09-01'), noInvalidDate: true })
  const daily = fc.tuple(field(0, 59), field(0, 23)).map((fields) => `${fields.join(' ')} * * *`)

  fc.assert(
    fc.property(daily, summer, (cron, after) => {
      expect(ours(`${cron} Europe/Berlin`, after)).toEqual(theirs(cron, 'Europe/Berlin', after))
    }),
    { numRuns: 300 },
  )
})

test.each([
  ['0 0 1,31 * *', 'UTC', '2026-02-10T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['59 0 1,28,31 * *', 'UTC', '2028-02-28T00:59:00.000Z', '2028-03-01T00:59:00.000Z'],
  ['0 0 */3 * *', 'America/Phoenix', '2028-02-28T07:59:00.000Z', '2028-03-01T07:00:00.000Z'],
  ['0 * 1,30 * *', 'Europe/Berlin', '2027-02-02T00:00:00.000Z', '2027-02-28T23:00:00.000Z'],
  ['0 0 29,30 * *', 'UTC', '2027-02-02T00:00:00.000Z', '2027-03-29T00:00:00.000Z'],
])('%s in %s has a time in the first days of March', (cron, zone, after, next) => {
  expect(ours(`${cron} ${zone}`, new Date(after))[0]).toBe(next)
  expect(theirs(cron, zone, new Date(after))[0]).toBe(next)
})
