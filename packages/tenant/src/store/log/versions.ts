import type { Sql } from '../../ports.ts'
import type { Current, Stored } from '../entities.ts'
import { OPEN } from '../layout.ts'
import { setMeta } from '../meta.ts'
import { nameNumber } from '../names.ts'

const WATERMARK = 'versions.seq'

/**
 * Brings the past up to the log, or by `most` events towards it; returns their number. Every read of the past calls
 * this first. A verb leaves it undone: for many at once, in the order of entities, it writes far fewer pages.
 */
export function indexVersions(sql: Sql, most = Number.POSITIVE_INFINITY): number {
  const { since, head } = standing(sql)
  const until = Math.min(head, since + most)
  if (until > since) {
    sql.transaction(() => {
      sql.run(FOLD, since, until)
      setMeta(sql, WATERMARK, String(until))
    }, 'joined')
  }
  return until - since
}

/** How many events the past does not know yet. */
export function versionsBacklog(sql: Sql): number {
  const { since, head } = standing(sql)
  return head - since
}

/** What an event says in `replaced` that takes the place of this version: a deletion was no state. */
export function replacedSeq(version: Current | null): number | null {
  return version === null || version.deleted ? null : version.seq
}

/** The past as it was at a seq; the log must end there. */
export function cutVersions(sql: Sql, seq: number): void {
  sql.run('DELETE FROM versions WHERE until > ?', seq)
  setMeta(sql, WATERMARK, String(seq))
}

/** The state of one entity as of a seq, or undefined when it was not there. */
export function stateAt(sql: Sql, current: Current, seq: number): Stored | undefined {
  if (current.seq <= seq) return current.deleted ? undefined : current
  indexVersions(sql)
  const row = sql.rows(
    `SELECT log.version, log.at, log.data
    FROM versions JOIN log ON log.seq = versions.seq
    WHERE versions.n = ? AND versions.until > ? AND versions.seq <= ?`,
    current.ordinal,
    seq,
    seq,
  )[0]
  return row && { ...current, version: row[0], updatedAt: row[1], data: row[2] ?? '{}' }
}

/** The seqs of all events of one entity, newest first: where a version began, and where one ended. */
export function seqsOf(sql: Sql, n: number): number[] {
  indexVersions(sql)
  return sql
    .rows(
      `SELECT seq FROM entities WHERE n = ?
      UNION SELECT seq FROM versions WHERE n = ?
      UNION SELECT until FROM versions WHERE n = ?
      ORDER BY seq DESC`,
      n,
      n,
      n,
    )
    .map(([seq]) => seq)
}

/** The seqs of an entity's events of one verb that happened at a time, newest first. */
export function seqsOfVerbAt(sql: Sql, n: number, verb: string, at: number): number[] {
  indexVersions(sql)
  return sql
    .rows(
      `SELECT log.seq
      FROM (
        SELECT seq FROM entities WHERE n = ?
        UNION SELECT seq FROM versions WHERE n = ?
        UNION SELECT until FROM versions WHERE n = ?) AS own
      JOIN log ON log.seq = own.seq
      WHERE log.verb = ? AND log.at = ?
      ORDER BY log.seq DESC`,
      n,
      n,
      n,
      nameNumber(sql, verb),
      at,
    )
    .map(([seq]) => seq)
}

/** The seqs of an entity's events of one verb, newest first. */
export function seqsOfVerb(sql: Sql, n: number, verb: string, before: number | null, limit: number): number[] {
  indexVersions(sql)
  return sql
    .rows(
      `SELECT log.seq ${OF_VERB} AND log.seq < ? ORDER BY log.seq DESC LIMIT +?`,
      n,
      n,
      nameNumber(sql, verb),
      before ?? OPEN,
      limit,
    )
    .map(([seq]) => seq)
}

/** How many events of one verb an entity has. */
export function countVerb(sql: Sql, n: number, verb: string): number {
  indexVersions(sql)
  return sql.rows(`SELECT count(*) ${OF_VERB}`, n, n, nameNumber(sql, verb))[0]![0]
}

const OF_VERB = `
  FROM (SELECT seq FROM versions WHERE n = ? UNION ALL SELECT seq FROM entities WHERE n = ?) AS own
  JOIN log ON log.seq = own.seq
  WHERE log.verb = ?`

const STANDING = `
  SELECT (SELECT coalesce(max(seq), 0) FROM log), (SELECT value FROM meta WHERE key = ?)`

const FOLD = `
  INSERT INTO versions (n, until, seq)
  SELECT n, seq, replaced
  FROM log
  WHERE seq > ? AND seq <= ? AND replaced IS NOT NULL
  ORDER BY n, seq`

function standing(sql: Sql): { since: number; head: number } {
  const [[head, since]] = sql.rows(STANDING, WATERMARK) as [[number, string | null]]
  return { since: Number(since ?? 0), head }
}
