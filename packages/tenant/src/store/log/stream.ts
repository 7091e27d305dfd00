import type { Sql } from '../../ports.ts'
import { type LogRow, readEntry } from './log.ts'
import { EVENT_SIZE, fitting } from './parts.ts'

/** Events of a type: all of them, or those of one name, whatever its case. */
export interface Wanted {
  readonly type: string
  readonly event: string | null
}

const PLACES = `SELECT seq, ${EVENT_SIZE} FROM log WHERE type IS ? AND seq > ?`

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
  const count = ({ type, event }: Wanted): number =>
    event === null
      ? sql.rows('SELECT count(*) FROM log WHERE type IS ? AND seq > ?', type, after)[0]![0]
      : sql.rows(
          'SELECT count(*) FROM log WHERE type IS ? AND seq > ? AND event = ? COLLATE NOCASE',
          type,
          after,
          event,
        )[0]![0]
  return wanted.reduce((sum, one) => sum + count(one), 0)
}

/** The types that have events. One step per type along the index, so that the whole log need not be read. */
export function loggedTypes(sql: Sql): string[] {
  return sql
    .rows(
      `WITH RECURSIVE types (type) AS (
        SELECT min(type) FROM log
        UNION ALL
        SELECT (SELECT min(log.type) FROM log WHERE log.type > types.type) FROM types WHERE types.type IS NOT NULL)
      SELECT type FROM types WHERE type IS NOT NULL`,
    )
    .map(([type]) => type)
}

function placesOf(sql: Sql, { type, event }: Wanted, after: number, limit: number): [seq: number, size: number][] {
  const rows =
    event === null
      ? sql.rows(`${PLACES} ORDER BY seq LIMIT +?`, type, after, limit)
      : sql.rows(`${PLACES} AND event = ? COLLATE NOCASE ORDER BY seq LIMIT +?`, type, after, event, limit)
  return rows as [number, number][]
}
