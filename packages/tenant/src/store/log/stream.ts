import type { Sql } from '../../ports.ts'
import { nameNumber, numbersAnyCase } from '../names.ts'
import { type LogRow, readEntry } from './log.ts'
import { EVENT_SIZE, fitting } from './parts.ts'

/** Events of a type: all of them, or those of one name, whatever its case. */
export interface Wanted {
  readonly type: string
  readonly event: string | null
}

/** Some events in order. */
interface EventPart {
  readonly rows: readonly LogRow[]
  /** Whether no more follow. */
  readonly isLast: boolean
}

/**
 * The requested events after a seq, oldest first: at most `limit`, and fewer when they are large. Each kind comes in order
 * along the index; the first of all are taken.
 */
export function readWanted(sql: Sql, wanted: readonly Wanted[], after: number, limit: number): EventPart {
  const found = wanted.flatMap((one) => placesOf(sql, one, after, limit)).sort(([a], [b]) => a - b)
  const places = found.slice(0, limit)
  const part = places.slice(0, fitting(places.map(([, size]) => size)))
  return {
    rows: part.map(([seq]) => readEntry(sql, seq)!),
    isLast: found.length < limit && part.length === places.length,
  }
}

/** The number of requested events after a seq. */
export function countWanted(sql: Sql, wanted: readonly Wanted[], after: number): number {
  return wanted.reduce(
    (sum, one) => sum + sql.rows(`SELECT count(*) ${WANTED}`, ...wantedValues(sql, one), after)[0]![0],
    0,
  )
}

/** The types that have events. One step per type along the index, so that the whole log need not be read. */
export function loggedTypes(sql: Sql): string[] {
  return sql
    .rows(
      `WITH RECURSIVE types (type) AS (
        SELECT min(type) FROM log
        UNION ALL
        SELECT (SELECT min(log.type) FROM log WHERE log.type > types.type) FROM types WHERE types.type IS NOT NULL)
      SELECT names.name FROM types JOIN names ON names.n = types.type ORDER BY names.name`,
    )
    .map(([type]) => type)
}

function placesOf(sql: Sql, wanted: Wanted, after: number, limit: number): [seq: number, size: number][] {
  const rows = sql.rows(
    `SELECT seq, ${EVENT_SIZE} ${WANTED} ORDER BY seq LIMIT +?`,
    ...wantedValues(sql, wanted),
    after,
    limit,
  )
  return rows as [number, number][]
}

/** The events of a type that have no other name than these; null is every name. */
const WANTED = `
  FROM log
  WHERE type IS ? AND (? IS NULL OR event IN (SELECT value FROM json_each(?))) AND seq > ?`

function wantedValues(sql: Sql, { type, event }: Wanted): [number, string | null, string | null] {
  const events = event === null ? null : JSON.stringify(numbersAnyCase(sql, event))
  return [nameNumber(sql, type), events, events]
}
