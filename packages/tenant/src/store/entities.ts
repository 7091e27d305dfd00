import type { JsonObject } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { OPEN } from './layout.ts'

/** An entity as it is stored. `data` is JSON text, so that it can be passed on without parsing. */
export interface Stored {
  readonly ordinal: number
  readonly id: string
  readonly type: string
  readonly version: number
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
  readonly data: string
  /** Embedded relations, when asked for. */
  readonly extra?: JsonObject
  /** About how many bytes it has as JSON, with what is embedded; absent when nothing is. */
  readonly size?: number
}

/** A row of `entities`, with what only writers need to know. */
export interface Current extends Stored {
  readonly seq: number
  readonly deleted: boolean
}

/** The entity with this id, also when it is deleted. */
export function currentOf(sql: Sql, type: string, id: string): Current | undefined {
  const row = sql.rows(
    `SELECT n, version, created_at, created_by, updated_at, data, seq, gone
    FROM entities
    WHERE id = ? AND type IS ?`,
    id,
    type,
  )[0]
  if (!row) return undefined
  const [ordinal, version, createdAt, createdBy, updatedAt, data, seq, deleted] = row
  return { ordinal, id, type, version, createdAt, createdBy, updatedAt, data, seq, deleted: deleted === 1 }
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
  const [ordinal, version, createdAt, createdBy, updatedAt, data] = row
  return { ordinal, id, type, version, createdAt, createdBy, updatedAt, data }
}

/** The entity at a place in the order of creation, as readers see it. */
export function presentAt(sql: Sql, ordinal: number): Stored | undefined {
  const row = sql.rows(
    `SELECT id, type, version, created_at, created_by, updated_at, data
    FROM entities
    WHERE n = ? AND gone = 0`,
    ordinal,
  )[0]
  if (!row) return undefined
  const [id, type, version, createdAt, createdBy, updatedAt, data] = row
  return { ordinal, id, type, version, createdAt, createdBy, updatedAt, data }
}

/** The states of entities of a type after a place, in the order of creation. */
export function statesAfter(sql: Sql, type: string, after: number, limit: number): [n: number, data: string][] {
  return sql.rows(
    'SELECT n, data FROM entities WHERE type IS ? AND gone = 0 AND n > ? ORDER BY n LIMIT +?',
    type,
    after,
    limit,
  ) as [number, string][]
}

/** The entities that have this value in an indexed field now. */
export function entitiesWith(sql: Sql, field: number, value: string): Pick<Stored, 'id' | 'data'>[] {
  return sql
    .rows(
      `SELECT entities.id, entities.data
      FROM field_index JOIN entities ON entities.n = field_index.n
      WHERE field_index.field = ? AND field_index.value = ? AND field_index.until = ? AND entities.gone = 0`,
      field,
      value,
      OPEN,
    )
    .map(([id, data]) => ({ id, data }))
}

/** The id of the entity that came from a source, also when it is deleted. `field` is the number of `$source` of its type. */
export function idOfSource(sql: Sql, field: number, source: string): string | undefined {
  return sql.rows(
    `SELECT entities.id
    FROM field_index JOIN entities ON entities.n = field_index.n
    WHERE field_index.field = ? AND field_index.value = ?
    ORDER BY field_index.until DESC
    LIMIT 1`,
    field,
    source,
  )[0]?.[0]
}

/** Whether any entity of this type is there. */
export function hasAny(sql: Sql, type: string): boolean {
  return sql.rows('SELECT 1 FROM entities WHERE type IS ? AND gone = 0 LIMIT 1', type).length > 0
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
    entity.ordinal,
    entity.id,
    entity.type,
    entity.deleted ? 1 : 0,
    entity.seq,
    entity.version,
    entity.createdAt,
    entity.createdBy,
    entity.updatedAt,
    entity.data,
  )
}

/** Replaces the current version by the next. The one before is in the past, once that is folded from the log. */
export function supersede(sql: Sql, before: Current, after: Current): void {
  const { ordinal, seq, version, updatedAt, data } = after
  sql.run(
    'UPDATE entities SET seq = ?, version = ?, updated_at = ?, data = ? WHERE n = ?',
    seq,
    version,
    updatedAt,
    data,
    ordinal,
  )
  // Apart, since the index over types would be written again even when nothing changes in it.
  if (before.deleted !== after.deleted)
    sql.run('UPDATE entities SET gone = ? WHERE n = ?', after.deleted ? 1 : 0, ordinal)
}

/** The entities of some types that an actor created and that still exist. */
export function createdBy(sql: Sql, actor: string, types: readonly string[]): Pick<Stored, 'id' | 'type' | 'data'>[] {
  return sql
    .rows(
      `SELECT id, type, data
      FROM entities
      WHERE type IN (SELECT value FROM json_each(?)) AND gone = 0 AND created_by = ?
      ORDER BY n`,
      JSON.stringify(types),
      actor,
    )
    .map(([id, type, data]) => ({ id, type, data }))
}

export function countsByType(sql: Sql): [type: string, count: number][] {
  return sql.rows('SELECT type, count(*) FROM entities WHERE gone = 0 GROUP BY type ORDER BY type') as [
    string,
    number,
  ][]
}
