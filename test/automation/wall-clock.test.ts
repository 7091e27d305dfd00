import { expect, test } from 'vitest'
import { nextTime, parseSchedule } from '../../packages/tenant/src/services/workflows/schedule.ts'

/** The times of a schedule from one instant up to another, in UTC. */
function timesOf(text: string, from: string, until: string): string[] {
  const schedule = parseSchedule(text)
  if ('fault' in schedule) throw new Error(schedule.fault)
  const times: string[] = []
  for (
    let at = nextTime(schedule, Date.parse(from));
    at !== null && at < Date.parse(until);
    at = nextTime(schedule, at)
  )
    times.push(new Date(at).toISOString().slice(0, 16))
  return times
}

const SPRING = ['2026-03-28T22:59:59Z', '2026-03-29T05:00:00Z'] as const
const AUTUMN = ['2026-10-24T21:59:59Z', '2026-10-25T04:00:00Z'] as const

test.each([
  ['0 0-6/2 * * * Europe/Berlin', ['2026-03-28T23:00', '2026-03-29T01:00', '2026-03-29T02:00', '2026-03-29T04:00']],
  ['0 0,2,4 * * * Europe/Berlin', ['2026-03-28T23:00', '2026-03-29T01:00', '2026-03-29T02:00']],
  ['15,45 2 * * * Europe/Berlin', ['2026-03-29T01:00']],
  ['0 2 * * * Europe/Berlin', ['2026-03-29T01:00']],
  [
    '0 * * * * Europe/Berlin',
    [23, 24, 25, 26, 27, 28].map((h) => new Date(Date.UTC(2026, 2, 28, h)).toISOString().slice(0, 16)),
  ],
])('%s runs right after the change to summer time', (text, expected) => {
  expect(timesOf(text, ...SPRING)).toEqual(expected)
})

test.each([
  ['0 0-6/2 * * * Europe/Berlin', ['2026-10-24T22:00', '2026-10-25T00:00', '2026-10-25T03:00']],
  ['0 0,2,4 * * * Europe/Berlin', ['2026-10-24T22:00', '2026-10-25T00:00', '2026-10-25T03:00']],
  ['30 1-3 * * * Europe/Berlin', ['2026-10-24T23:30', '2026-10-25T00:30', '2026-10-25T02:30']],
  [
    '0 * * * * Europe/Berlin',
    [
      '2026-10-24T22:00',
      '2026-10-24T23:00',
      '2026-10-25T00:00',
      '2026-10-25T01:00',
      '2026-10-25T02:00',
      '2026-10-25T03:00',
    ],
  ],
])('%s runs once in the hour that exists twice', (text, expected) => {
  expect(timesOf(text, ...AUTUMN)).toEqual(expected)
})

test.each(['0 0 9 * * 1 2026', '0 9 * *', '* * * * * * *'])('%s has neither five fields nor six', (text) => {
  expect(parseSchedule(text)).toHaveProperty('fault')
})

test('a shortcut that was stored before continues to run', () => {
  expect(timesOf('@daily', '2026-06-01T12:00:00Z', '2026-06-03T12:00:00Z')).toEqual([
    '2026-06-02T00:00',
    '2026-06-03T00:00',
  ])
})

test.each(['*/20 * * * * *', '0 9 * * 1-5 Europe/Berlin', '15,45 2 * * * Europe/Berlin', '30 * * * *'])(
  '%s has the same next time for all who ask, in any order',
  (text) => {
    const shared = parseSchedule(text)
    if ('fault' in shared) throw new Error(shared.fault)
    const begin = Date.parse('2026-03-28T22:59:59Z')
    const times = Array.from({ length: 300 }, (_, i) => begin + ((i * 7_919) % 300) * 613_000 + (i % 3) * 500)

    const answers = times.map((at) => nextTime(shared, at))

    expect(answers).toEqual(times.map((at) => nextTime({ ...shared }, at)))
  },
)
