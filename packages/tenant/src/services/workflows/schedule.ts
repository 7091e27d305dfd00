import { invalid, isPlainObject } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { Cron } from 'croner'
import { WallClock } from './wall-clock.ts'

/** A cron expression with a time zone. */
export interface Schedule {
  readonly cron: string
  readonly zone: string
}

const ZONE = /^(?:UTC|GMT|[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+)+)$/

/** Schedules by their texts: a workflow is read again after each of its runs, and finding a first time is slow. */
const known = new BoundedMap<string, Schedule>(1_000)

/** Reads `0 9 * * 1`, `0 9 * * 1 Europe/Berlin` or `TZ=Europe/Berlin 0 9 * * 1`. The zone is UTC when there is none. */
export function parseSchedule(text: string): Schedule | { readonly fault: string } {
  const before = known.get(text)
  if (before) return before
  const schedule = readSchedule(text)
  if (!('fault' in schedule)) known.set(text, schedule)
  return schedule
}

/** The shortcuts of other programs, as fields. */
const SHORTCUTS: { readonly [name: string]: string } = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Refuses a shortcut such as `@daily` in what a caller stores. One that was stored before continues to run. */
export function refuseShortcut(type: string, data: unknown): void {
  const text = isPlainObject(data) ? data.schedule : undefined
  const shortcut = typeof text === 'string' ? /(?:^|\s)(@\S*)/.exec(text)?.[1] : undefined
  if (shortcut === undefined) return
  const fields = SHORTCUTS[shortcut.toLowerCase()] ?? '0 9 * * 1-5'
  const message = `${shortcut.slice(0, 40)} is not supported. Write five or six fields, such as ${fields}`
  throw invalid(type, [{ field: 'schedule', message }])
}

function readSchedule(text: string): Schedule | { readonly fault: string } {
  const words = text.trim().split(/\s+/)
  const named = /^(?:CRON_)?TZ=(.+)$/.exec(words[0] ?? '')?.[1]
  if (named !== undefined) words.shift()
  const zone = named ?? (ZONE.test(words.at(-1) ?? '') ? words.pop()! : 'UTC')
  const schedule = { cron: words.join(' '), zone }
  try {
    if ((words.length < 5 || words.length > 6) && !words[0]?.startsWith('@')) throw new Error()
    if (nextTime(schedule, 0) !== null) return schedule
    return { fault: `the schedule ${schedule.cron} has no time in the future` }
  } catch {
    return isZone(zone)
      ? { fault: `${schedule.cron.slice(0, 100)} is not a cron expression, such as 0 9 * * 1-5` }
      : { fault: `${zone.slice(0, 60)} is not a time zone, such as Europe/Berlin` }
  }
}

/**
 * The first time of a schedule after another, or null when there is none. A schedule for every hour follows the time that
 * passes. Any other follows the clock on the wall: a time that a change skips is that of the change, and a time that
 * exists twice is the first of both.
 */
export function nextTime(schedule: Schedule, after: number): number | null {
  const last = found.get(schedule)
  if (last && last.after <= after && (last.next === null || after < last.next)) return last.next
  const next = findNext(schedule, after)
  found.set(schedule, { after, next })
  return next
}

/** The time that was found last: many tenants have the same schedule, and ask for the same time. */
const found = new WeakMap<Schedule, { readonly after: number; readonly next: number | null }>()

function findNext({ cron, zone }: Schedule, after: number): number | null {
  const hour = cron.split(' ').at(-4)
  if (hour === '*' || cron.startsWith('@')) return nextRun(cron, zone, after)
  const clock = clockOf(zone)
  for (let wall = clock.wallAt(after); ; ) {
    const next = nextRun(cron, 'UTC', wall)
    if (next === null) return null
    const time = clock.timeOf(next)
    if (time > after) return time
    wall = next
  }
}

const clocks = new BoundedMap<string, WallClock>(100)

function clockOf(zone: string): WallClock {
  const clock = clocks.get(zone) ?? new WallClock(zone)
  clocks.set(zone, clock)
  return clock
}

function nextRun(cron: string, zone: string, after: number): number | null {
  const job = new Cron(cron, { timezone: zone, paused: true })
  const next = job.nextRun(new Date(after))?.getTime() ?? null
  const march = marchAfter(zone, after)
  if (next === null || march === null || next <= march) return next
  // In February, croner looks for a 31st, which is in March, and continues after that.
  return job.nextRun(new Date(march - 1))!.getTime()
}

/** When March begins, for a time in February; null for others. */
function marchAfter(zone: string, after: number): number | null {
  const clock = zone === 'UTC' ? null : clockOf(zone)
  const wall = new Date(clock ? clock.wallAt(after) : after)
  if (wall.getUTCMonth() !== 1) return null
  const march = Date.UTC(wall.getUTCFullYear(), 2, 1)
  return clock ? clock.timeOf(march) : march
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
