const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/i

/** Milliseconds since 1970 of an ISO 8601 datetime, UTC unless it names an offset, or of a date; null when it is neither. */
export function parseInstant(text: string): number | null {
  const parts = ISO.exec(text)
  if (!parts) return null
  const [, year, month, day, hour, minute, second, fraction, sign, hours, minutes] = parts
  if (!isDay(Number(year), Number(month), Number(day))) return null
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return null
  if (Number(hours ?? 0) > 23 || Number(minutes ?? 0) > 59) return null
  const clock = (Number(hour ?? 0) * 60 + Number(minute ?? 0)) * 60_000 + Number(second ?? 0) * 1_000
  const millis = Number((fraction ?? '0').padEnd(3, '0').slice(0, 3))
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000 * (sign === '-' ? -1 : 1)
  return date + clock + millis - offset
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
const TWO = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))
const THREE = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, '0'))

// Times are mostly written many at once and lie close together: the calendar is asked once a minute.
let last = { minute: Number.NaN, text: '' }

/** Whether the calendar has this day; years below 100 would be taken for those of the last century. */
function isDay(year: number, month: number, day: number): boolean {
  if (year < 100 || month < 1 || month > 12 || day < 1) return false
  return day <= 28 || day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}
