const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/i

/** The form that the service writes, and the most frequent input. */
const NORMAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Milliseconds since 1970 of an ISO 8601 datetime, UTC unless it has an offset, or of a date; null if it is neither.
 */
export function parseInstant(text: string): number | null {
  return NORMAL.test(text) ? parseNormal(text) : parseAny(text)
}

function parseNormal(text: string): number | null {
  return instantOf(
    digits(text, 0, 4),
    digits(text, 5, 7),
    digits(text, 8, 10),
    digits(text, 11, 13),
    digits(text, 14, 16),
    digits(text, 17, 19),
    digits(text, 20, 23),
  )
}

function parseAny(text: string): number | null {
  const parts = ISO.exec(text)
  if (!parts) return null
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', sign, hours = 0, minutes = 0] = parts
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  const millis = fraction.padEnd(3, '0').slice(0, 3)
  const [date, time] = [[year, month, day].map(Number), [hour, minute, second, millis].map(Number)]
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE * (sign === '-' ? -1 : 1)
  const isLeap = Number(second) === 60
  if (isLeap) time.splice(2, 2, 59, 999)
  const local = instantOf(...(date as [number, number, number]), ...(time as [number, number, number, number]))
  const instant = local === null ? null : local - offset
  if (instant === null || instant < EARLIEST || instant > LATEST) return null
  // A leap second is the last one of a day in UTC.
  return isLeap && instant % DAY !== DAY - 1 && instant % DAY !== -1 ? null : instant
}

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i++) value = value * 10 + text.charCodeAt(i) - 48
  return value
}

/** The instant of a date and time, if they exist. */
function instantOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  millis: number,
): number | null {
  if (!isDay(year, month, day) || hour > 23 || minute > 59 || second > 59) return null
  const days = new Date(0).setUTCFullYear(year, month - 1, day)
  return days + ((hour * 60 + minute) * 60 + second) * 1_000 + millis
}

/** The instant as ISO 8601 in UTC with milliseconds: `2026-01-31T09:00:00.000Z`. */
export function isoOf(instant: number): string {
  const minute = Math.floor(instant / MINUTE)
  const rest = instant - minute * MINUTE
  if (!Number.isInteger(rest)) return new Date(instant).toISOString()
  if (minute !== last.minute) last = { minute, text: new Date(instant).toISOString().slice(0, -'00.000Z'.length) }
  const second = Math.floor(rest / 1_000)
  return `${last.text}${TWO[second]}.${THREE[rest - second * 1_000]}Z`
}

const MINUTE = 60_000
const DAY = 86_400_000
/** Whether a clock shows a time that ids and events can have: after 1970, in a year of four digits. */
export function isClockTime(instant: number): boolean {
  return instant >= 0 && instant <= LATEST
}

/** The years 1 to 9999, which ISO 8601 writes with four digits. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')
const TWO = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))
const THREE = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, '0'))

// Many similar times are written together, so the calendar part is computed once per minute.
let last = { minute: Number.NaN, text: '' }

/** Whether this day exists, from the year 1 on. */
function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  // The calendar repeats every 400 years; Date.UTC would treat years below 100 as those of the last century.
  return day <= 28 || day <= new Date(Date.UTC(year + 400, month, 0)).getUTCDate()
}
