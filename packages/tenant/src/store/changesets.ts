import type { Sql } from '../ports.ts'
import { indexVersions } from './log/versions.ts'
import { nameNumber, nameOf } from './names.ts'

/** An event that took the place of a version of an entity. */
export interface LaterEvent {
  readonly entity: string
  readonly type: string
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
      `SELECT entities.id, log.type, log.seq, log.verb, log.previous
      FROM entities
      CROSS JOIN versions ON versions.n = entities.n AND versions.until > ? AND versions.until <= ?
      CROSS JOIN log ON log.seq = versions.until
      WHERE entities.id IN (SELECT value FROM json_each(?)) AND entities.seq > ?`,
      after,
      until,
      list,
      after,
    )
    .map(([entity, type, seq, verb, previous]) => ({
      entity,
      type: nameOf(sql, type),
      seq,
      verb: nameOf(sql, verb),
      previous,
    }))
}

/** The oldest changeset that is open, or null. */
export function oldestOpen(sql: Sql): { readonly id: string; readonly createdAt: number } | null {
  const [row] = sql.rows(
    `SELECT e.id, e.created_at
    FROM entities e LEFT JOIN log l ON l.seq = e.seq
    WHERE e.type IS ? AND e.gone = 0 AND json_extract(l.data, '$.state') = 'Open'
    ORDER BY e.n
    LIMIT 1`,
    nameNumber(sql, 'Changeset'),
  )
  return row ? { id: row[0], createdAt: row[1] } : null
}

/** The parts of changesets that name an entity, or named it once. */
export function partsNaming(sql: Sql, id: string): string[] {
  return sql
    .rows(
      `SELECT DISTINCT entities.id
      FROM log CROSS JOIN entities ON entities.n = log.n
      WHERE log.type IS ? AND (instr(log.data, ?) > 0 OR instr(log.previous, ?) > 0 OR instr(log.args, ?) > 0)`,
      nameNumber(sql, 'ChangesetPart'),
      id,
      id,
      id,
    )
    .map(([part]) => part)
}
