import type { Sql } from '../../ports.ts'
import { OPEN } from '../layout.ts'
import type { LogRow } from './log.ts'
import { fitting, fittingEvents } from './parts.ts'
import { indexVersions } from './versions.ts'

/** A row of the log with what seals it. */
export interface SealedRow extends LogRow {
  readonly salt: Uint8Array | null
  readonly digest: Uint8Array
  readonly hash: Uint8Array
}

/** Events after a seq with their seals: at most `limit`, and fewer when they are large. None when there are no more. */
export function readSealed(sql: Sql, after: number, limit: number): SealedRow[] {
  return sql
    .rows(
      `SELECT seq, id, at, type, entity, verb, event, version, actor, correlation, created_at, created_by, data, previous,
        args, salt, digest, hash, on_behalf_of, recorded_at
      FROM log
      WHERE seq > ?
      ORDER BY seq
      LIMIT +?`,
      after,
      fittingEvents(sql, after, limit),
    )
    .map((row) => {
      const [seq, id, at, type, entity, verb, event, version, actor, correlation, createdAt, createdBy] = row
      const [data, previous, args, salt, digest, hash, onBehalfOf, recordedAt] = row.slice(12)
      return {
        seq,
        id,
        at,
        recordedAt,
        type,
        entity,
        verb,
        event,
        version,
        actor,
        correlation,
        onBehalfOf,
        createdAt,
        createdBy,
        data,
        previous,
        args,
        salt,
        digest,
        hash,
      }
    })
}

/** Adds a row of another copy of the same log, as it is, and which version it replaced here. */
export function insertSealed(sql: Sql, row: SealedRow, replaced: number | null): void {
  sql.run(
    `INSERT INTO log (seq, id, at, type, entity, verb, event, version, actor, correlation, created_at, created_by, data,
      previous, args, salt, digest, hash, replaced, on_behalf_of, recorded_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.seq,
    row.id,
    row.at,
    row.type,
    row.entity,
    row.verb,
    row.event,
    row.version,
    row.actor,
    row.correlation,
    row.createdAt,
    row.createdBy,
    row.data,
    row.previous,
    row.args,
    row.salt,
    row.digest,
    row.hash,
    replaced,
    row.onBehalfOf ?? null,
    row.recordedAt,
  )
}

/** Entities whose row is not what the newest event of theirs says. */
export function strayEntities(sql: Sql): { id: string; seq: number }[] {
  return sql
    .rows(
      `SELECT entities.id, entities.seq
      FROM entities LEFT JOIN log ON log.seq = entities.seq
      WHERE log.seq IS NULL OR log.entity <> entities.id OR log.type <> entities.type OR log.version <> entities.version
        OR log.at <> entities.updated_at OR log.created_at <> entities.created_at
        OR coalesce(log.data, '{}') <> entities.data OR (log.verb = 'delete') <> entities.gone
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
      WHERE opening.entity IS NOT entities.id OR closing.entity IS NOT entities.id
        OR closing.version IS NOT opening.version + 1 OR versions.until <= versions.seq
      UNION ALL
      SELECT log.seq
      FROM log
      JOIN entities ON entities.id = log.entity
      LEFT JOIN versions ON versions.n = entities.n AND versions.until = log.seq
      WHERE log.replaced IS NOT NULL AND versions.seq IS NOT log.replaced
      LIMIT 100`,
    )
    .map(([seq]) => seq)
}

/** Current rows of the index over fields, for one field, of the entities from one number up to another. */
export function liveFieldIndex(sql: Sql, field: number, from: number, end: number): [number, string | number][] {
  return sql.rows(
    'SELECT n, value FROM field_index WHERE field = ? AND until = ? AND n >= ? AND n < ?',
    field,
    OPEN,
    from,
    end,
  ) as [number, string | number][]
}

/** The entities of a type from one number up to another, of which a part is in memory at a time. */
export function* liveStates(sql: Sql, type: string, from: number, end: number): Generator<[n: number, data: string]> {
  const live = 'FROM entities WHERE type IS ? AND gone = 0 AND n >= ? AND n < ? ORDER BY n'
  const left = sql.rows(`SELECT n, octet_length(data) ${live}`, type, from, end) as [n: number, size: number][]
  while (left.length > 0) {
    const part = left.splice(0, fitting(left.map(([, size]) => size)))
    const rows = sql.rows(`SELECT n, data ${live}`, type, part[0]![0], part.at(-1)![0] + 1)
    yield* rows as [number, string][]
  }
}

/** The number after that of the last entity. */
export function endOfEntities(sql: Sql): number {
  return sql.rows('SELECT ifnull(max(n), 0) + 1 FROM entities')[0]![0] as number
}
