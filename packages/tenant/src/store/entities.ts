import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../ports.ts'
import { OPEN } from './layout.ts'
import { isMeasured, MEASURED_TYPES, measuredIn, measuredOf } from './measures.ts'
import { fixedNumber, nameNumber, nameOf, numberName } from './names.ts'

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

/** The tables of an entity and its state. */
const STATES = 'entities e LEFT JOIN log l ON l.seq = e.seq'
/** The columns of `toStored`. The values of an entity may have been erased. */
const STORED = `e.n, e.id, e.type, l.version, e.created_at, e.created_by, l.at, ifnull(l.data, '{}')`

// Made once: the text of a statement finds what was prepared of it, and one that is put together has to be read for that.
const CURRENT = `SELECT ${STORED}, e.seq, e.gone FROM ${STATES} WHERE e.id = ? AND e.type IS ?`
const PRESENT = `SELECT ${STORED} FROM ${STATES} WHERE e.id = ? AND e.type IS ? AND e.gone = 0`

/** The entity with this id, also when it is deleted. */
export function currentOf(sql: Sql, type: string, id: string): Current | undefined {
  const row = sql.rows(CURRENT, id, nameNumber(sql, type))[0]
  return row && toCurrent(sql, row)
}

/** Entities of a type that are not deleted, in the order of their creation. */
export function liveEntities(sql: Sql, type: string, after: number, limit: number): Current[] {
  return sql
    .rows(
      `SELECT ${STORED}, e.seq, e.gone
      FROM ${STATES}
      WHERE e.type IS ? AND e.gone = 0 AND e.n > ?
      ORDER BY e.n
      LIMIT +?`,
      nameNumber(sql, type),
      after,
      limit,
    )
    .map((row) => toCurrent(sql, row))
}

/** All entities of a type that are not deleted, in the order of their creation. Only for types that have few. */
export function allOf(sql: Sql, type: string): Stored[] {
  return sql
    .rows(`SELECT ${STORED} FROM ${STATES} WHERE e.type IS ? AND e.gone = 0 ORDER BY e.n`, nameNumber(sql, type))
    .map((row) => toStored(sql, row))
}

/** The entity with this id, as readers see it. */
export function presentOf(sql: Sql, type: string, id: string): Stored | undefined {
  const row = sql.rows(PRESENT, id, nameNumber(sql, type))[0]
  return row && toStored(sql, row)
}

/** The entity at a place in the order of creation, as readers see it. */
export function presentAt(sql: Sql, ordinal: number): Stored | undefined {
  const row = sql.rows(`SELECT ${STORED} FROM ${STATES} WHERE e.n = ? AND e.gone = 0`, ordinal)[0]
  return row && toStored(sql, row)
}

/** The states of entities of a type after a place, in the order of creation. */
export function statesAfter(sql: Sql, type: string, after: number, limit: number): [n: number, data: string][] {
  return sql.rows(
    `SELECT e.n, ifnull(l.data, '{}') FROM ${STATES} WHERE e.type IS ? AND e.gone = 0 AND e.n > ? ORDER BY e.n LIMIT +?`,
    nameNumber(sql, type),
    after,
    limit,
  ) as [number, string][]
}

/** The entities that have this value in an indexed field now. */
export function entitiesWith(sql: Sql, field: number, value: string): Pick<Stored, 'id' | 'data'>[] {
  return sql
    .rows(
      `SELECT e.id, ifnull(l.data, '{}')
      FROM field_index f CROSS JOIN ${STATES}
      WHERE f.field = ? AND f.value = ? AND f.until = ? AND e.n = f.n AND e.gone = 0`,
      field,
      value,
      OPEN,
    )
    .map(([id, data]) => ({ id, data }))
}

/** The entities that have this text in an indexed field now, in capital or small letters. */
export function entitiesSpelled(sql: Sql, field: number, text: string): Pick<Stored, 'id' | 'data'>[] {
  return sql
    .rows(
      `SELECT e.id, ifnull(l.data, '{}')
      FROM field_index f CROSS JOIN ${STATES}
      WHERE f.field = ? AND f.value = ? COLLATE NOCASE AND f.until = ? AND e.n = f.n AND e.gone = 0`,
      field,
      text,
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
  return sql.rows('SELECT 1 FROM entities WHERE type IS ? AND gone = 0 LIMIT 1', nameNumber(sql, type)).length > 0
}

/** Whether an entity of this type and id is there. */
export function exists(sql: Sql, type: string, id: string): boolean {
  const rows = sql.rows('SELECT 1 FROM entities WHERE id = ? AND type IS ? AND gone = 0', id, nameNumber(sql, type))
  return rows.length > 0
}

/** How many entities of a type are there. */
export function liveCount(sql: Sql, type: string): number {
  return sql.rows('SELECT count(*) FROM entities WHERE type IS ? AND gone = 0', nameNumber(sql, type))[0]![0]
}

/** Adds a new entity. Its place in creation order is the seq of its first event, which holds its state. */
export function insertEntity(sql: Sql, entity: Current): void {
  sql.run(
    `INSERT INTO entities (n, id, type, gone, seq, created_at, created_by, measured)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    entity.ordinal,
    entity.id,
    numberName(sql, entity.type),
    entity.deleted ? 1 : 0,
    entity.seq,
    entity.createdAt,
    numberName(sql, entity.createdBy),
    measuredOf(entity.type, entity.data),
  )
}

/** Lets an entity point to the event of its next version. The one before is in the past, once that is folded from the log. */
export function supersede(sql: Sql, before: Current, after: Current): void {
  const { ordinal, seq, type } = after
  if (isMeasured(type))
    sql.run('UPDATE entities SET seq = ?, measured = ? WHERE n = ?', seq, measuredOf(type, after.data), ordinal)
  else sql.run('UPDATE entities SET seq = ? WHERE n = ?', seq, ordinal)
  // Apart, since the index over types would be written again even when nothing changes in it.
  if (before.deleted !== after.deleted)
    sql.run('UPDATE entities SET gone = ? WHERE n = ?', after.deleted ? 1 : 0, ordinal)
}

/** Takes all entities back to a seq; the versions must be complete. For copies only. */
export function resetEntities(sql: Sql, seq: number): void {
  sql.run(
    `UPDATE entities
    SET seq = (
      SELECT max(known.seq)
      FROM (
        SELECT versions.seq FROM versions WHERE versions.n = entities.n
        UNION SELECT versions.until FROM versions WHERE versions.n = entities.n) AS known
      WHERE known.seq <= ?)
    WHERE seq > ? AND n <= ?`,
    seq,
    seq,
    seq,
  )
  sql.run('DELETE FROM entities WHERE n > ?', seq)
  sql.run(
    `UPDATE entities
    SET gone = (SELECT log.verb = ${fixedNumber('delete')} FROM log WHERE log.seq = entities.seq)
    WHERE gone <> (SELECT log.verb = ${fixedNumber('delete')} FROM log WHERE log.seq = entities.seq)`,
  )
  for (const type of MEASURED_TYPES) {
    const data = '(SELECT log.data FROM log WHERE log.seq = entities.seq)'
    sql.run(`UPDATE entities SET measured = ${measuredIn(type, data)} WHERE type IS ?`, fixedNumber(type))
  }
}

/** The entities of some types that an actor created and that still exist. */
export function createdBy(sql: Sql, actor: string, types: readonly string[]): Pick<Stored, 'id' | 'type' | 'data'>[] {
  return sql
    .rows(
      `SELECT ${STORED}
      FROM ${STATES}
      WHERE e.type IN (SELECT value FROM json_each(?)) AND e.gone = 0 AND e.created_by = ?
      ORDER BY e.n`,
      JSON.stringify(types.map((type) => nameNumber(sql, type))),
      nameNumber(sql, actor),
    )
    .map((row) => toStored(sql, row))
}

export function countsByType(sql: Sql): [type: string, count: number][] {
  return sql.rows(
    `SELECT names.name, counted.count
    FROM (SELECT type, count(*) AS count FROM entities WHERE gone = 0 GROUP BY type) AS counted
    JOIN names ON names.n = counted.type
    ORDER BY names.name`,
  ) as [string, number][]
}

function toStored(sql: Sql, row: SqlRow): Stored {
  const [ordinal, id, type, version, createdAt, createdBy, updatedAt, data] = row
  return {
    ordinal,
    id,
    type: nameOf(sql, type),
    version,
    createdAt,
    createdBy: nameOf(sql, createdBy),
    updatedAt,
    data,
  }
}

function toCurrent(sql: Sql, row: SqlRow): Current {
  const [ordinal, id, type, version, createdAt, createdBy, updatedAt, data, seq, gone] = row
  return {
    ordinal,
    id,
    type: nameOf(sql, type),
    version,
    createdAt,
    createdBy: nameOf(sql, createdBy),
    updatedAt,
    data,
    seq,
    deleted: gone === 1,
  }
}
