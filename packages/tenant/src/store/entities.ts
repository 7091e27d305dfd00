import type { JsonObject } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'

/** An entity as it is stored. `data` is JSON text: whoever only passes it on need not parse it. */
export interface Stored {
  readonly n: number
  readonly id: string
  readonly type: string
  readonly version: number
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
  readonly data: string
  /** Embedded relations, when asked for. */
  readonly extra?: JsonObject
}

/** A row of `entities`, with what only writers need to know. */
export interface Current extends Stored {
  readonly seq: number
  readonly gone: boolean
}

/** The entity with this id, also when it is deleted. */
export function currentOf(sql: Sql, type: string, id: string): Current | undefined {
  const row = sql.rows(
    `SELECT n, id, type, version, created_at, created_by, updated_at, data, seq, gone
    FROM entities
    WHERE id = ? AND type IS ?`,
    id,
    type,
  )[0]
  if (!row) return undefined
  const [n, , , version, createdAt, createdBy, updatedAt, data, seq, gone] = row
  return { n, id, type, version, createdAt, createdBy, updatedAt, data, seq, gone: gone === 1 }
}

/** The entity with this id, as readers see it. */
export function presentOf(sql: Sql, type: string, id: string): Stored | undefined {
  const row = sql.rows(
    `SELECT n, version, created_at, created_by, updated_at, data
    FROM entities
    WHERE id = ? AND type IS ? AND gone = 0`,
    id,
    type,
  )[0]
  if (!row) return undefined
  const [n, version, createdAt, createdBy, updatedAt, data] = row
  return { n, id, type, version, createdAt, createdBy, updatedAt, data }
}

/** Whether an entity of this type and id is there. */
export function exists(sql: Sql, type: string, id: string): boolean {
  return sql.rows('SELECT 1 FROM entities WHERE id = ? AND type IS ? AND gone = 0', id, type).length > 0
}

/** Adds a new entity. Its place in creation order is the seq of its first event. */
export function insertEntity(sql: Sql, entity: Current): void {
  sql.run(
    `INSERT INTO entities (n, id, type, gone, seq, version, created_at, created_by, updated_at, data)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    entity.n,
    entity.id,
    entity.type,
    entity.gone ? 1 : 0,
    entity.seq,
    entity.version,
    entity.createdAt,
    entity.createdBy,
    entity.updatedAt,
    entity.data,
  )
}

/** Replaces the current version by the next. The one before, unless it was a deletion, moves into the past. */
export function supersede(sql: Sql, before: Current, after: Current): void {
  if (!before.gone) {
    sql.run('INSERT INTO past (seq, n, type, until) VALUES (?, ?, ?, ?)', before.seq, before.n, before.type, after.seq)
  }
  const { n, seq, version, updatedAt, data } = after
  sql.run(
    'UPDATE entities SET seq = ?, version = ?, updated_at = ?, data = ? WHERE n = ?',
    seq,
    version,
    updatedAt,
    data,
    n,
  )
  // Apart, since the index over types would be written anew even when nothing changes in it.
  if (before.gone !== after.gone) sql.run('UPDATE entities SET gone = ? WHERE n = ?', after.gone ? 1 : 0, n)
}

/** The state of one entity as of a seq, or undefined when it was not there. */
export function stateAt(sql: Sql, current: Current, seq: number): Stored | undefined {
  if (current.seq <= seq) return current.gone ? undefined : current
  const row = sql.rows(
    `SELECT log.version, log.at, log.data
    FROM past JOIN log ON log.seq = past.seq
    WHERE past.n = ? AND past.until > ? AND past.seq <= ?`,
    current.n,
    seq,
    seq,
  )[0]
  return row && { ...current, version: row[0], updatedAt: row[1], data: row[2] ?? '{}' }
}

/** The seqs of all events of one entity, newest first: where a version began, and where one ended. */
export function seqsOf(sql: Sql, n: number): number[] {
  return sql
    .rows(
      `SELECT seq FROM entities WHERE n = ?
      UNION SELECT seq FROM past WHERE n = ?
      UNION SELECT until FROM past WHERE n = ?
      ORDER BY seq DESC`,
      n,
      n,
      n,
    )
    .map(([seq]) => seq)
}

export function countsByType(sql: Sql): [type: string, count: number][] {
  return sql.rows('SELECT type, count(*) FROM entities WHERE gone = 0 GROUP BY type ORDER BY type') as [
    string,
    number,
  ][]
}
