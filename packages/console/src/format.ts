import type { Json } from './schema.ts'

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const SECOND = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export const dayText = (iso: string) => (isTime(iso) ? DAY.format(new Date(iso)) : iso)
export const momentText = (iso: string) => (isTime(iso) ? MOMENT.format(new Date(iso)) : iso)
export const clockText = (iso: string) => (isTime(iso) ? SECOND.format(new Date(iso)) : iso)
export const numberText = (value: number) => NUMBER.format(value)
export const compactText = (value: number) => COMPACT.format(value)

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** `3 days ago`. */
export function agoText(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1_000
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return unit === 'second' && Math.abs(seconds) < 10 ? 'just now' : AGO.format(Math.round(seconds / length), unit)
}

/** A value in one short line. */
export function shortText(value: Json | undefined, most = 80): string {
  if (value === null || value === undefined) return '—'
  const text = typeof value === 'string' ? value : typeof value === 'number' ? numberText(value) : JSON.stringify(value)
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** `leadScore` as `Lead score`, `$updatedAt` as `Updated at`. */
export function labelOf(name: string): string {
  const words = name
    .replace(/^\$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([a-z])(\d)/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .toLowerCase()
  const known = words.replace(/\b(api|crm|mrr|arr|nrr|ltv|url|id|sms)\b/g, (word) => word.toUpperCase())
  return known.charAt(0).toUpperCase() + known.slice(1)
}

/** An ISO time as a `datetime-local` input wants it: local and without a zone. */
export function localInput(iso: string | null | undefined): string {
  if (!iso || !isTime(iso)) return ''
  const time = new Date(iso)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** The other way round. */
export function fromLocalInput(text: string): string | null {
  return text === '' || !isTime(text) ? null : new Date(text).toISOString()
}

export const pretty = (value: unknown) => JSON.stringify(value, null, 2) ?? ''

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}
