import { currencyOf, inSentence, isCurrency, isTime, LOCALE, moneyText, numberText } from './format.ts'

const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const MONTH = new Intl.DateTimeFormat(LOCALE, { month: 'short', timeZone: 'UTC' })
const WEEKDAY = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', timeZone: 'UTC' })
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const PERCENT = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })

export const clockText = (iso: string) => (isTime(iso) ? CLOCK.format(new Date(iso)) : iso)
export const weekdayText = (iso: string) => (isTime(iso) ? WEEKDAY.format(new Date(iso)) : iso)
export const monthText = (iso: string) => (isTime(iso) ? MONTH.format(new Date(iso)) : iso)
export const compactText = (value: number) => COMPACT.format(value)
export const percentText = (value: number) => PERCENT.format(value)

/** The value of a metric: a share, an amount of money, or a number. */
export function metricText(value: number, unit: string | null): string {
  if (unit === 'ratio') return percentText(value)
  return unit === 'currency' || isCurrency(unit) ? moneyText(value, unit) : numberText(value)
}

/** The unit of a metric, with currencies as people write them: `EUR`, `count`. */
export function unitText(unit: string | null): string {
  if (unit === 'currency') return currencyOf(null) ?? ''
  return isCurrency(unit) ? unit.toUpperCase() : unit === null ? '' : inSentence(unit)
}
