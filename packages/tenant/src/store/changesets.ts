import type { Sql } from '../ports.ts'
import { indexVersions } from './log/versions.ts'

/** An event that took the place of a version of an entity. */
export interface LaterEvent {
  readonly entity: string
  readonly seq: number
  readonly verb: string
  /** The changed fields with their values before, as JSON text; null for a deletion. */
  readonly previous: string | null
}

/** What happened to some entities after a seq, up to another. */
export function eventsSince(sql: Sql, ids: readonly string[], after: number, until: number): LaterEvent[] {
  const list = JSON.stringify(ids)
  const [row] = sql.rows(
    'SELECT 1 FROM entities WHERE id IN (SELECT value FROM json_each(?)) AND seq > ? LIMIT 1',
    list,
    after,
  )
  if (!row) return []
  indexVersions(sql)
  return sql
    .rows(
      `SELECT entities.id, log.seq, log.verb, log.previous
      FROM entities
      CROSS JOIN versions ON versions.n = entities.n AND versions.until > ? AND versions.until <= ?
      CROSS JOIN log ON log.seq = versions.until
      WHERE entities.id IN (SELECT value FROM json_each(?)) AND entities.seq > ?`,
      after,
      until,
      list,
      after,
    )
    .map(([entity, seq, verb, previous]) => ({ entity, seq, verb, previous }))
}

/** The oldest changeset that is open, or null. */
export function oldestOpen(sql: Sql): { readonly id: string; readonly createdAt: number } | null {
  const [row] = sql.rows(
    `SELECT id, created_at
    FROM entities
    WHERE type IS 'Changeset' AND gone = 0 AND json_extract(data, '$.state') = 'Open'
    ORDER BY n
    LIMIT 1`,
  )
  return row ? { id: row[0], createdAt: row[1] } : null
}

/** The parts of changesets that name an entity, or named it once. */
export function partsNaming(sql: Sql, id: string): string[] {
  return sql
    .rows(
      `SELECT DISTINCT entity
      FROM log
      WHERE type IS 'ChangesetPart' AND (instr(data, ?) > 0 OR instr(previous, ?) > 0 OR instr(args, ?) > 0)`,
      id,
      id,
      id,
    )
    .map(([part]) => part)
}
