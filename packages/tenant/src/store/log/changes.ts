import type { Sql } from '../../ports.ts'
import { nameNumber } from '../names.ts'

/** The seq of the newest event of a type; 0 when there is none. */
export function lastSeqOf(sql: Sql, type: string): number {
  return sql.rows('SELECT max(seq) FROM log WHERE type IS ?', nameNumber(sql, type))[0]![0] ?? 0
}

/** The types that have entities, in the order of their names. One step per type along the index. */
export function typesWithEntities(sql: Sql): string[] {
  return sql.rows(TYPES).map(([type]) => type)
}

const TYPES = `
  WITH RECURSIVE types (type) AS (
    SELECT min(type) FROM entities
    UNION ALL
    SELECT (SELECT min(entities.type) FROM entities WHERE entities.type > types.type) FROM types WHERE types.type IS NOT NULL)
  SELECT names.name
  FROM types JOIN names ON names.n = types.type
  WHERE EXISTS (SELECT 1 FROM entities WHERE entities.type = types.type AND entities.gone = 0)
  ORDER BY names.name`
