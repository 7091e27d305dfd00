import { parseInstant } from '../value/time.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const UNITS: { readonly [unit: string]: number } = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }

/** Milliseconds since 1970 of an ISO 8601 text, or of `now`, `today` and `7d ago` (s, m, h, d, w); else null. */
export function resolveInstant(text: string, now: number): number | null {
  return parseInstant(text) ?? relativeInstant(text, now)
}

/** The same for relative times only. */
export function relativeInstant(text: string, now: number): number | null {
  if (text === 'now') return now
  if (text === 'today') return now - (now % DAY)
  const [, count, unit] = /^(\d{1,6})\s?([smhdw]) ago$/.exec(text) ?? []
  return count === undefined || unit === undefined ? null : now - Number(count) * UNITS[unit]!
}
