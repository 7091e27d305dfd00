import type { Json, JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../ports.ts'
import { OPEN } from './layout.ts'
import { nameNumber } from './names.ts'

/** An entity on the way along relations. */
export interface RelatedRow {
  readonly id: string
  readonly data: JsonObject
}

/** The ids of entities that name one of these ids in an indexed field, in the order of their creation. */
export function referrers(sql: Sql, field: number, ids: readonly string[], limit: number): string[] {
  return sql.rows(`SELECT e.id ${NAMING}`, field, JSON.stringify(ids), OPEN, limit).map(([id]) => id)
}

/** Those entities, with their fields. */
export function referringRows(sql: Sql, field: number, ids: readonly string[], limit: number): RelatedRow[] {
  return sql.rows(`SELECT e.id, ifnull(l.data, '{}') ${NAMING}`, field, JSON.stringify(ids), OPEN, limit).map(toRow)
}

/** What those entities have at a path in their fields; nothing for those that have null there. */
export function referringValues(sql: Sql, field: number, ids: readonly string[], path: string, limit: number): Json[] {
  return sql
    .rows(`SELECT l.data -> ? ${NAMING}`, path, field, JSON.stringify(ids), OPEN, limit)
    .flatMap(([text]) => parsedValue(text))
}

/** How many entities refer to one of these ids in a field. */
export function countReferrers(sql: Sql, field: number, ids: readonly string[]): number {
  return sql.rows(`SELECT count(*) FROM (SELECT 1 ${NAMING})`, field, JSON.stringify(ids), OPEN, -1)[0]![0]
}

/** The entities of a type with these ids that are not deleted, in the order of their creation. */
export function rowsOf(sql: Sql, type: string, ids: readonly string[]): RelatedRow[] {
  const [only] = ids
  const number = nameNumber(sql, type)
  if (ids.length === 1) {
    return sql
      .rows(`SELECT e.id, ifnull(l.data, '{}') ${STATES} WHERE e.id = ? AND e.type IS ? AND e.gone = 0`, only!, number)
      .map(toRow)
  }
  // The index over types would be read whole for a few ids.
  return sql
    .rows(
      `SELECT e.id, ifnull(l.data, '{}')
      ${STATES}
      WHERE e.id IN (SELECT value FROM json_each(?)) AND +e.type IS ? AND +e.gone = 0
      ORDER BY +e.n`,
      JSON.stringify(ids),
      number,
    )
    .map(toRow)
}

const STATES = 'FROM entities e LEFT JOIN log l ON l.seq = e.seq'
const NAMING = `
  ${STATES}
  WHERE e.n IN (
    SELECT n
    FROM field_index
    WHERE field = ? AND value IN (SELECT value FROM json_each(?)) AND until = ?)
    AND e.gone = 0
  ORDER BY e.n
  LIMIT +?`

function toRow([id, data]: SqlRow): RelatedRow {
  return { id, data: JSON.parse(data) }
}

function parsedValue(text: string | null): Json[] {
  return text === null || text === 'null' ? [] : [JSON.parse(text)]
}
