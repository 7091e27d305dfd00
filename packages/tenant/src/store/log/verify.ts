import type { Seal, Sql, SqlValue } from '../../ports.ts'
import type { Current } from '../entities.ts'
import { OPEN } from '../layout.ts'
import { MEASURED_TYPES, measuredIn } from '../measures.ts'
import { fixedNumber, nameNumber } from '../names.ts'
import {
  digestOf,
  EVENT_COLUMNS,
  EVENT_TABLES,
  type EventPlace,
  insertEvent,
  type LogRow,
  rowId,
  toRow,
} from './log.ts'
import { fitting, fittingEvents } from './parts.ts'
import { indexVersions } from './versions.ts'

/** A row of the log with what seals it. */
export interface SealedRow extends LogRow {
  readonly salt: Uint8Array | null
  readonly digest: Uint8Array
  readonly hash: Uint8Array
}

/** Events after a seq with their seals: at most `limit`, and fewer when they are large. None when there are no more. */
export function readSealed(sql: Sql, seal: Seal, after: number, limit: number): SealedRow[] {
  return sql
    .rows(
      `SELECT ${EVENT_COLUMNS}, l.salt, l.digest, l.hash FROM ${EVENT_TABLES} WHERE l.seq > ? ORDER BY l.seq LIMIT +?`,
      after,
      fittingEvents(sql, after, limit),
    )
    .map((row) => {
      const [salt, digest, hash] = row.slice(-3)
      const event = toRow(sql, row)
      // Only erased values have a stored digest. Without a salt there is none to compute.
      return { ...event, salt, digest: digest ?? digestOf(seal, salt ?? NO_SALT, event), hash }
    })
}

const NO_SALT = new Uint8Array()

/** Adds a row of another copy of the same log, as it is, to the entity that it is about here. */
export function insertSealed(sql: Sql, row: SealedRow, place: EventPlace, entity: Current | null): void {
  const own = entity && { at: entity.createdAt, by: entity.createdBy }
  // The first event of an entity makes its row.
  const created = own ?? (place.n === null ? { at: row.at, by: row.actor } : null)
  const digest = row.salt === null ? row.digest : null
  insertEvent(sql, row.seq, rowId(row, place, row.seq), row, place, row.salt, row.hash, digest, created)
}

/** Entities whose row is not what the newest event of theirs says. */
export function strayEntities(sql: Sql): { id: string; seq: number }[] {
  return sql
    .rows(
      `SELECT entities.id, entities.seq
      FROM entities LEFT JOIN log ON log.seq = entities.seq
      WHERE log.seq IS NULL OR log.n <> entities.n OR log.type <> entities.type
        OR (log.verb = ${fixedNumber('delete')}) <> entities.gone
        ${MEASURED_TYPES.map(
          (type) => `OR (entities.type = ${fixedNumber(type)}
          AND coalesce(json(entities.measured), ${measuredIn(type, "'{}'")}) <> ${measuredIn(type, `coalesce(log.data, '{}')`)})`,
        ).join(' ')}
      LIMIT 100`,
    )
    .map(([id, seq]) => ({ id, seq }))
}

/** The entities from one number up to another, with the event that each is the state of. */
export function entityHeads(sql: Sql, from: number, end: number): [id: string, seq: number][] {
  return sql.rows('SELECT id, seq FROM entities WHERE n >= ? AND n < ?', from, end) as [string, number][]
}

/** Intervals of the past that do not begin and end with an event of their entity, and those that are missing. */
export function strayVersions(sql: Sql): number[] {
  indexVersions(sql)
  return sql
    .rows(
      `SELECT versions.seq
      FROM versions
      JOIN entities ON entities.n = versions.n
      LEFT JOIN log AS opening ON opening.seq = versions.seq
      LEFT JOIN log AS closing ON closing.seq = versions.until
      WHERE opening.n IS NOT entities.n OR closing.n IS NOT entities.n
        OR closing.version IS NOT opening.version + 1 OR versions.until <= versions.seq
      UNION ALL
      SELECT log.seq
      FROM log
      LEFT JOIN versions ON versions.n = log.n AND versions.until = log.seq
      WHERE log.replaced IS NOT NULL AND versions.seq IS NOT log.replaced
      LIMIT 100`,
    )
    .map(([seq]) => seq)
}

/** Compares the current rows of one field in the index over fields with those that the states of entities ask for. */
export class IndexLookup {
  readonly #sql: Sql
  readonly #field: number
  /** Pairs of a value and the number of its entity that were not looked up yet. */
  readonly #asked: SqlValue[] = []
  #expected = 0
  #found = 0

  constructor(sql: Sql, field: number) {
    this.#sql = sql
    this.#field = field
  }

  /** Expects a row. No row is expected twice. */
  add(value: SqlValue, n: number): void {
    this.#expected++
    this.#asked.push(value, n)
    if (this.#asked.length === 2 * LOOKED_UP) this.#look()
  }

  /** How many of the expected rows are missing, and how many others there are. */
  compare(): { readonly missing: number; readonly unexpected: number } {
    // A null equals nothing.
    while (this.#asked.length > 0 && this.#asked.length < 2 * LOOKED_UP) this.#asked.push(null)
    if (this.#asked.length > 0) this.#look()
    const [row] = this.#sql.rows('SELECT count(*) FROM field_index WHERE field = ? AND until = ?', this.#field, OPEN)
    return { missing: this.#expected - this.#found, unexpected: row![0] - this.#found }
  }

  #look(): void {
    this.#found += this.#sql.rows(LOOK_UP, ...this.#asked, this.#field, OPEN)[0]![0]
    this.#asked.length = 0
  }
}

/** As many as a statement of a Durable Object has room for. */
const LOOKED_UP = 49
const LOOK_UP = `
  WITH asked (value, n) AS (VALUES ${Array(LOOKED_UP).fill('(?, ?)').join(', ')})
  SELECT count(*)
  FROM asked CROSS JOIN field_index f
  WHERE f.field = ? AND f.until = ? AND f.value = asked.value AND f.n = asked.n`

/** The entities of a type from one number up to another, of which a part is in memory at a time. */
export function* liveStates(sql: Sql, type: string, from: number, end: number): Generator<[n: number, data: string]> {
  const live = `FROM entities e LEFT JOIN log l ON l.seq = e.seq
    WHERE e.type IS ? AND e.gone = 0 AND e.n >= ? AND e.n < ? ORDER BY e.n`
  const number = nameNumber(sql, type)
  const left = sql.rows(`SELECT e.n, ifnull(octet_length(l.data), 2) ${live}`, number, from, end) as [number, number][]
  while (left.length > 0) {
    const part = left.splice(0, fitting(left.map(([, size]) => size)))
    const rows = sql.rows(`SELECT e.n, ifnull(l.data, '{}') ${live}`, number, part[0]![0], part.at(-1)![0] + 1)
    yield* rows as [number, string][]
  }
}

/** The number after that of the last entity. */
export function endOfEntities(sql: Sql): number {
  return sql.rows('SELECT ifnull(max(n), 0) + 1 FROM entities')[0]![0] as number
}
