import type { Sql } from '../../ports.ts'
import { fitting } from '../log/parts.ts'
import { MEASURED_TYPES, measuredIn } from '../measures.ts'
import { forgetNames, numberName } from '../names.ts'

/** Receives how many rows have been moved, of how many. */
export type Progress = (done: number, of: number) => void

/** Rows of one transaction, at most. */
const SLICE = 5_000

/** The tables of layout 10 whose rows move, in this order: an event finds its entity by the id. */
const TABLES = [
  { table: 'entities_10', key: 'n', size: 'octet_length(data)', names: ['type', 'created_by'] },
  {
    table: 'log_10',
    key: 'seq',
    size: 'ifnull(octet_length(data), 0) + ifnull(octet_length(previous), 0) + ifnull(octet_length(args), 0)',
    names: ['type', 'verb', 'event', 'actor', 'created_by', 'on_behalf_of'],
  },
] as const

/**
 * Moves the rows of layout 10 to the tables of layout 11, a slice per transaction. A row is in one of the two at any time, so
 * a process that is killed continues where it stopped.
 */
export function moveRows(sql: Sql, progress: Progress): void {
  const left = TABLES.map(({ table }) => sql.rows(`SELECT count(*) FROM ${table}`)[0]![0] as number)
  const all = left.reduce((sum, count) => sum + count, 0)
  let done = 0
  for (const table of TABLES) {
    for (let moved = moveSlice(sql, table); moved > 0; moved = moveSlice(sql, table)) {
      done += moved
      progress(done, all)
    }
  }
  sql.transaction(() => {
    for (const { table } of TABLES) sql.run(`DROP TABLE ${table}`)
  })
}

function moveSlice(sql: Sql, { table, key, size, names }: (typeof TABLES)[number]): number {
  try {
    return sql.transaction(() => {
      const next = sql.rows(`SELECT ${key}, ${size} FROM ${table} ORDER BY ${key} LIMIT +?`, SLICE) as [
        number,
        number,
      ][]
      const slice = next.slice(0, fitting(next.map(([, bytes]) => bytes)))
      const end = slice.at(-1)?.[0]
      if (end === undefined) return 0
      for (const column of names) {
        const found = sql.rows(
          `SELECT DISTINCT ${column} FROM ${table} WHERE ${key} <= ? AND ${column} IS NOT NULL`,
          end,
        )
        for (const [name] of found) numberName(sql, name)
      }
      sql.run(table === 'log_10' ? MOVE_EVENTS : MOVE_ENTITIES, end)
      sql.run(`DELETE FROM ${table} WHERE ${key} <= ?`, end)
      return slice.length
    })
  } catch (reason) {
    forgetNames(sql)
    throw reason
  }
}

function numberIn(column: string): string {
  return `(SELECT names.n FROM names WHERE names.name = ${column})`
}

const MOVE_ENTITIES = `
  INSERT INTO entities (n, id, type, gone, seq, created_at, created_by, measured)
  SELECT old.n, old.id, ${numberIn('old.type')}, old.gone, old.seq, old.created_at, ${numberIn('old.created_by')},
    CASE old.type ${MEASURED_TYPES.map((type) => `WHEN '${type}' THEN ${measuredIn(type, 'old.data')}`).join(' ')} END
  FROM entities_10 old
  WHERE old.n <= ?
  ORDER BY old.n`

// A tracked Event has no entity. The digest of values that are there is computed from them.
const MOVE_EVENTS = `
  INSERT INTO log (seq, id, at, type, n, verb, event, version, replaced, actor, salt, hash, data, previous, args, correlation,
    on_behalf_of, entity, created_at, created_by, digest, recorded_at)
  SELECT old.seq, old.id, old.at, ${numberIn('old.type')}, entities.n, ${numberIn('old.verb')}, ${numberIn('old.event')},
    old.version, old.replaced, ${numberIn('old.actor')}, old.salt, old.hash, old.data, old.previous, old.args,
    old.correlation, ${numberIn('old.on_behalf_of')},
    CASE WHEN entities.n IS NULL AND old.entity <> old.id THEN old.entity END,
    CASE WHEN old.created_at <> coalesce(entities.created_at, old.at) THEN old.created_at END,
    CASE WHEN ${numberIn('old.created_by')} <> coalesce(entities.created_by, ${numberIn('old.actor')})
      THEN ${numberIn('old.created_by')} END,
    CASE WHEN old.salt IS NULL THEN old.digest END, old.recorded_at
  FROM log_10 old LEFT JOIN entities ON entities.id = old.entity AND entities.type = ${numberIn('old.type')}
  WHERE old.seq <= ?
  ORDER BY old.seq`
