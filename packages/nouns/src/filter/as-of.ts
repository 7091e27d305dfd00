import { Problem } from '../problem.ts'
import { resolveInstant } from './relative.ts'

/** A moment of a tenant: a time, or the state right after an event. */
export type AsOf = { readonly at: number } | { readonly seq: number }

/** A number of milliseconds since 1970 is as large from 1973 on, and the seq of an event never is. */
const LEAST_MILLISECONDS = 100_000_000_000

/** Parses `asOf`: an ISO 8601 time, `now`, `today`, `7d ago` (s, m, h, d, w), or the seq of an event. */
export function parseAsOf(value: unknown, now: number): AsOf {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (/^\d{1,15}$/.test(text) && Number(text) < LEAST_MILLISECONDS) return { seq: Number(text) }
  const at = typeof value === 'string' ? resolveInstant(text, now) : null
  if (at !== null) return { at }
  throw new Problem(
    'invalid_as_of',
    'asOf is an ISO 8601 time, such as 2026-01-31T12:00:00Z, or now, today, 7d ago, or the seq of an event.',
    { field: 'asOf' },
  )
}
