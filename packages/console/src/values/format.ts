import { signal } from '@preact/signals'
import type { Json } from '@tildebase/nouns'
import { preferences } from '../preferences.ts'
import { answer, filled, hasSmallNouns, t, word } from '../texts/text.ts'

/** English is written as the reader's country does; another language as its own, in the country of the reader if it has one. */
const LANGUAGE = typeof localStorage === 'undefined' ? 'en' : preferences.value.language
export const LOCALE = localeOf()
const DAY = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
// A calendar day has no time zone: it is the same day for every reader.
const DATE = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const MOMENT = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
/** A moment of this year needs no year. */
const NEAR = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const MONTH_YEAR = { month: 'long', year: 'numeric' } as const
const MONTH_OF_TIME = new Intl.DateTimeFormat(LOCALE, MONTH_YEAR)
const MONTH_OF_DAY = new Intl.DateTimeFormat(LOCALE, { ...MONTH_YEAR, timeZone: 'UTC' })
const NUMBER = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 })
const AGO = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' })

export const dayText = (iso: string) => (isTime(iso) ? DAY.format(new Date(iso)) : iso)
export const dateText = (iso: string) => (isTime(iso) ? DATE.format(new Date(iso)) : iso)
export const momentText = (iso: string) => (isTime(iso) ? MOMENT.format(new Date(iso)) : iso)
/** A moment in little room: the year only where it is another one. */
export const nearText = (iso: string) =>
  isTime(iso) && new Date(iso).getFullYear() === new Date().getFullYear() ? NEAR.format(new Date(iso)) : momentText(iso)
/** The month of a day or a time with its year: `March 2026`. */
export const monthYearText = (iso: string) =>
  isTime(iso) ? (iso.length === 10 ? MONTH_OF_DAY : MONTH_OF_TIME).format(new Date(iso)) : iso
export const numberText = (value: number) => NUMBER.format(value)

const SIZES: readonly [string, number][] = [
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
  ['kilobyte', 1e3],
]

/** `1.2 MB`. */
export function bytesText(bytes: number): string {
  const [unit, size] = SIZES.find(([, least]) => bytes >= least) ?? ['kilobyte', 1e3]
  return new Intl.NumberFormat(LOCALE, { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / size)
}

const MONEY =
  /^(value|amount|total|subtotal|price|revenue|mrr|arr|budget|cost|discount|tax)$|(value|amount|price|total)$/i

/** Whether a number field of this name is an amount of money. */
export function isMoney(name: string): boolean {
  return MONEY.test(name)
}

/** The currency of the tenant: that of amounts which do not name one. */
const tenantCurrency = signal<string | null>(null)

export function setCurrency(code: unknown): void {
  tenantCurrency.value = isCurrency(code) ? code.toUpperCase() : null
}

/** The currency that an amount is in. */
export function currencyOf(named: unknown): string | null {
  return isCurrency(named) ? named.toUpperCase() : tenantCurrency.value
}

/** An amount with its currency, as the reader's country writes it; a plain number when no currency is known. */
export function moneyText(value: number, named: unknown): string {
  const currency = currencyOf(named)
  if (currency === null) return numberText(value)
  const digits = Number.isInteger(value) ? 0 : 2
  const name = `${currency} ${digits}`
  const known = MONEYS.get(name)
  const format = known ?? new Intl.NumberFormat(LOCALE, { style: 'currency', currency, maximumFractionDigits: digits })
  if (!known) MONEYS.set(name, format)
  return format.format(value)
}

/** The formats of amounts by currency and digits: to make one takes longer than to draw a cell. */
const MONEYS = new Map<string, Intl.NumberFormat>()

/** Amounts that may be in several currencies, each added up on its own: `€1,200 + $300`. */
export function sumsText(parts: readonly { readonly currency: unknown; readonly sum: number }[]): string {
  const sums = new Map<string | null, number>()
  for (const { currency, sum } of parts) {
    const code = currencyOf(currency)
    sums.set(code, (sums.get(code) ?? 0) + sum)
  }
  // Entities without an amount add nothing, and need no currency.
  const some = [...sums].filter(([, sum]) => sum !== 0)
  const shown = some.length > 0 ? some : [...sums].slice(0, 1)
  return shown.map(([code, sum]) => moneyText(sum, code)).join(' + ') || numberText(0)
}

/** Whether a value is the code of a currency: `EUR`. */
export function isCurrency(code: unknown): code is string {
  return typeof code === 'string' && /^[a-z]{3}$/i.test(code)
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** The day that weeks begin with where the reader is: 0 is Sunday. */
export function firstWeekday(locale = LOCALE): number {
  const known = new Intl.Locale(locale) as Intl.Locale & { getWeekInfo?(): { firstDay: number } }
  return (known.getWeekInfo?.().firstDay ?? 1) % 7
}

/** `3 days ago`. */
export function agoText(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1_000
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return unit === 'second' && Math.abs(seconds) < 10 ? t('just now') : AGO.format(Math.round(seconds / length), unit)
}

/** A value in one short line. */
export function shortText(value: Json | undefined, most = 80): string {
  if (value === null || value === undefined) return '—'
  const text = typeof value === 'string' ? value : typeof value === 'number' ? numberText(value) : JSON.stringify(value)
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** Whether a text has all these words. */
export function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** The first letters of a name: `AB` of Ada Byron. */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
  return [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => word?.charAt(0).toUpperCase()).join('')
}

const ACRONYMS = /^(api|crm|mrr|arr|nrr|ltv|url|id|sms|csv|ip|vat|oidc)$/i

/** A name of the API for people, in their language: `leadScore` is `Lead score`, `$updatedAt` is `Updated at`. */
export function labelOf(name: string): string {
  return word(englishOf(name))
}

/** The label of a name inside a sentence. */
export function inSentence(name: string): string {
  const label = labelOf(name)
  return hasSmallNouns ? label.toLowerCase() : label
}

/** A sentence of the service in the reader's language, as far as the console has it. The code is that of the error. */
export function answerText(english: string, code = ''): string {
  // A name that is not one of the product's own stays as it is.
  const label = (name: string) => (labelOf(name) === englishOf(name) ? name : labelOf(name))
  return answer?.(english, code, { fill: filled, label }) ?? english
}

/** A name of the API in English: `SMB` stays `SMB`. */
export function englishOf(name: string): string {
  const words = name
    .replace(/^\$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/([a-z])(\d)/g, '$1 $2')
    .split(/[-_ ]+/)
    .map((word) => (ACRONYMS.test(word) || /^[A-Z0-9]{2,}$/.test(word) ? word.toUpperCase() : word.toLowerCase()))
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** An ISO time for a `datetime-local` input: local and without a zone. */
export function localInput(iso: string | null | undefined): string {
  if (!iso || !isTime(iso)) return ''
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** The ISO time of a `datetime-local` input, or null. */
export function fromLocalInput(text: string): string | null {
  return text === '' || !isTime(text) ? null : new Date(text).toISOString()
}

function localeOf(): string {
  if (typeof navigator === 'undefined') return 'en'
  const { language, languages } = navigator
  return LANGUAGE === 'en' ? language : (languages.find((one) => one.split('-')[0] === LANGUAGE) ?? LANGUAGE)
}

export const pretty = (value: unknown) => JSON.stringify(value, null, 2) ?? ''

/** Whether a text is a day or a time. */
export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}
