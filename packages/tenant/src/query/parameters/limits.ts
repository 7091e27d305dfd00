import { Problem } from '@tildebase/nouns'

/** How many results a list has when its request does not say, and at most. */
export const DEFAULT_LIMIT = 25
export const MOST_RESULTS = 100

/** The limit that a request gives, as a number or as text. */
export function limitOf(value: unknown, most = MOST_RESULTS): number {
  const limit = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= most) return limit as number
  throw new Problem('invalid_limit', `limit must be a whole number from 1 to ${most}.`, { field: 'limit', limit: most })
}

/** The offset that a request gives, as a number or as text. */
export function offsetOf(value: unknown): number {
  const offset = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (Number.isInteger(offset) && (offset as number) >= 0) return offset as number
  throw new Problem('invalid_offset', 'offset must be a whole number from 0.', { field: 'offset' })
}
