import type { Sql } from '../ports.ts'
import type { Moment, Reader } from './reader.ts'

export const PRESENT: Moment = { asOf: null }

/** The present, or the moment right after an event. */
export function momentOf(reader: Reader, asOf: number | null | undefined): Moment {
  if (asOf === null || asOf === undefined) return PRESENT
  let last: number | undefined
  return {
    asOf,
    get last() {
      last ??= lastCreated(reader.sql, asOf)
      return last
    },
  }
}

/** Entities are numbered in the order of their first events, so halving finds the last one without an index. */
function lastCreated(sql: Sql, asOf: number): number {
  let low = 0
  let high: number = sql.rows('SELECT coalesce(max(n), 0) FROM entities')[0]![0]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [row] = sql.rows(FIRST_EVENT, middle)
    if (row![0] <= asOf) low = middle
    else high = middle - 1
  }
  return low
}

/** The first event of the first entity from a place on; the places may have gaps. */
const FIRST_EVENT = `
  SELECT coalesce((SELECT min(past.seq) FROM past WHERE past.n = entities.n), entities.seq)
  FROM entities
  WHERE entities.n >= ?
  ORDER BY entities.n
  LIMIT 1`
