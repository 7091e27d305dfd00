import { firstWeekday } from '../../values/format.ts'

/** A stretch of time, from its first moment to the first moment after it. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

/** The periods that people choose by name, counted from today in the zone of the browser. */
export const PERIODS = [
  'today',
  'yesterday',
  'last 7 days',
  'last 30 days',
  'last 90 days',
  'this week',
  'this month',
  'this quarter',
  'this year',
  'last week',
  'last month',
  'last quarter',
  'last year',
  'next 7 days',
  'next 30 days',
  'next month',
] as const

/** The stretch that a name means on a day, or null when it is no name of one. Weeks begin as the reader's country has it. */
export function periodOf(name: string, now = new Date(), weekday = firstWeekday()): Period | null {
  const today = dayOf(now)
  const [, which, count, unit] = /^(last|next) (\d+) (days)$/.exec(name) ?? []
  if (unit !== undefined) {
    const days = Number(count)
    return which === 'last'
      ? { from: moved(today, 1 - days), to: moved(today, 1) }
      : { from: today, to: moved(today, days) }
  }
  if (name === 'today') return { from: today, to: moved(today, 1) }
  if (name === 'yesterday') return { from: moved(today, -1), to: today }
  const [, step, part] = /^(this|last|next) (week|month|quarter|year)$/.exec(name) ?? []
  if (part === undefined) return null
  const at = step === 'this' ? 0 : step === 'last' ? -1 : 1
  return { from: beginning(today, part, at, weekday), to: beginning(today, part, at + 1, weekday) }
}

/** The first moment of a day in the zone of the browser. */
export function dayOf(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate())
}

export function moved(day: Date, days: number): Date {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days)
}

/** A day as a date field has it: `2026-06-15`. */
export function dayName(day: Date): string {
  const part = (value: number, length = 2) => String(value).padStart(length, '0')
  return `${part(day.getFullYear(), 4)}-${part(day.getMonth() + 1)}-${part(day.getDate())}`
}

/** The day of a name, or null. */
export function dayNamed(name: string): Date | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(name) ?? []
  return day === undefined ? null : new Date(Number(year), Number(month) - 1, Number(day))
}

function beginning(today: Date, part: string, step: number, weekday: number): Date {
  const [year, month] = [today.getFullYear(), today.getMonth()]
  if (part === 'week') return moved(today, 7 * step - ((today.getDay() - weekday + 7) % 7))
  if (part === 'month') return new Date(year, month + step, 1)
  if (part === 'quarter') return new Date(year, month - (month % 3) + 3 * step, 1)
  return new Date(year + step, 0, 1)
}
