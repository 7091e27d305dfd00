import type { Sql } from '../ports.ts'
import { type LogRow, readEntry } from './log.ts'

/** Events of a type: all of them, or those of one name, whatever its case. */
export interface Wanted {
  readonly type: string
  readonly event: string | null
}

/**
 * The requested events after a seq, oldest first. Each kind comes in order along the index; the first of all are taken.
 */
export function readWanted(sql: Sql, wanted: readonly Wanted[], after: number, limit: number): LogRow[] {
  const seqs = wanted.flatMap((one) => seqsOf(sql, one, after, limit))
  return seqs
    .sort((a, b) => a - b)
    .slice(0, limit)
    .map((seq) => readEntry(sql, seq)!)
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

function seqsOf(sql: Sql, { type, event }: Wanted, after: number, limit: number): number[] {
  const rows =
    event === null
      ? sql.rows('SELECT seq FROM log WHERE type IS ? AND seq > ? ORDER BY seq LIMIT +?', type, after, limit)
      : sql.rows(
          'SELECT seq FROM log WHERE type IS ? AND seq > ? AND event = ? COLLATE NOCASE ORDER BY seq LIMIT +?',
          type,
          after,
          event,
          limit,
        )
  return rows.map(([seq]) => seq)
}
