import type { Guess } from '../values/number-format.ts'

/** In which order a column writes year, month and day. */
export type DateFormat = 'ymd' | 'dmy' | 'mdy'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The order of year, month and day that all cells of a column show together. */
export function guessDates(cells: readonly string[], locale?: string): Guess<DateFormat> {
  const counts = (['ymd', 'dmy', 'mdy'] as const).map((format) => ({
    format,
    count: cells.filter((cell) => partsOf(cell, format) !== null).length,
  }))
  const most = Math.max(...counts.map(({ count }) => count))
  const best = counts.filter(({ count }) => count === most).map(({ format }) => format)
  if (most === 0 || best.length === 1) return { format: best[0]!, isSure: true }
  const differ = cells.some((cell) => new Set(best.map((format) => readDate(cell, format))).size > 1)
  if (!differ) return { format: best[0]!, isSure: true }
  // With points, the day comes first wherever people write so.
  const isPointed = cells.some((cell) => /^\d{1,2}\.\d{1,2}\./.test(cell))
  return { format: isPointed ? 'dmy' : localOrder(locale), isSure: isPointed }
}

/** The day that a cell means in a format, as `2026-06-15`; null when it is none. */
export function readDate(cell: string, format: DateFormat): string | null {
  const parts = partsOf(cell, format)
  return parts === null ? null : `${pad(parts.year, 4)}-${pad(parts.month)}-${pad(parts.day)}`
}

/** The moment that a cell means in a format; without a zone, the one of this browser. */
export function readMoment(cell: string, format: DateFormat): string | null {
  const parts = partsOf(cell, format)
  if (parts === null) return null
  const { year, month, day, hour, minute, second, zone } = parts
  const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}${zone}`
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly zone: string
}

const TIME = /(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(am|pm)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i
const NUMBERS = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})/
const NAMED = /^(?:(\d{1,2})\.? ([a-z]{3,9})\.?,? (\d{4})|([a-z]{3,9})\.? (\d{1,2}),? (\d{4}))/i

function partsOf(cell: string, format: DateFormat): Parts | null {
  const text = cell.trim()
  const found = NUMBERS.exec(text) ?? NAMED.exec(text)
  const time = found && TIME.exec(text.slice(found[0].length))
  if (!found || !time || time.index !== 0) return null
  const day =
    found[2]?.length === 1 && found[4] !== undefined && /[./-]/.test(found[2]) ? ordered(found, format) : named(found)
  if (day === null) return null
  const [, hour = '0', minute = '0', second = '0', half, zone = ''] = time
  const hours = (Number(hour) % (half ? 12 : 24)) + (half?.toLowerCase() === 'pm' ? 12 : 0)
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  if (!isTime || !isDay(day)) return null
  return { ...day, hour: hours, minute: Number(minute), second: Number(second), zone }
}

type Day = Pick<Parts, 'year' | 'month' | 'day'>

function ordered(found: RegExpExecArray, format: DateFormat): Day | null {
  const [first, second, third] = [found[1]!, found[3]!, found[4]!]
  const [year, month, day] =
    format === 'ymd' ? [first, second, third] : format === 'dmy' ? [third, second, first] : [third, first, second]
  if ((year.length !== 4 && year.length !== 2) || day.length > 2 || month.length > 2) return null
  if (format === 'ymd' && year.length !== 4) return null
  return { year: fullYear(year), month: Number(month), day: Number(day) }
}

function named(found: RegExpExecArray): Day | null {
  const month = MONTHS.indexOf((found[2] ?? found[4] ?? '').slice(0, 3).toLowerCase()) + 1
  const [day, year] = found[2] === undefined ? [found[5], found[6]] : [found[1], found[3]]
  return month === 0 ? null : { year: Number(year), month, day: Number(day) }
}

function fullYear(year: string): number {
  if (year.length === 4) return Number(year)
  return Number(year) + (Number(year) < 70 ? 2_000 : 1_900)
}

function isDay({ year, month, day }: Day): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function localOrder(locale?: string): DateFormat {
  const first = new Intl.DateTimeFormat(locale).formatToParts().find(({ type }) => type === 'day' || type === 'month')
  return first?.type === 'month' ? 'mdy' : 'dmy'
}

function pad(value: number, length = 2): string {
  return String(value).padStart(length, '0')
}
