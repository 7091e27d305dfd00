import { Problem } from '../problem.ts'
import { resolveInstant } from './relative.ts'

/** A moment of a tenant: a time, or the state right after an event. */
export type AsOf = { readonly at: number } | { readonly seq: number }

/** Parses `asOf`: an ISO 8601 time, `now`, `today`, `7d ago` (s, m, h, d, w), or the seq of an event. */
export function parseAsOf(value: unknown, now: number): AsOf {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return { seq: value }
  if (typeof value === 'string') {
    const text = value.trim()
    if (/^\d{1,15}$/.test(text)) return { seq: Number(text) }
    const at = resolveInstant(text, now)
    if (at !== null) return { at }
  }
  throw new Problem(
    'invalid_as_of',
    'asOf is an ISO 8601 time, such as 2026-01-31T12:00:00Z, or now, today, 7d ago, or the seq of an event.',
    { field: 'asOf' },
  )
}
