import type { Sql } from '../../ports.ts'
import { getMeta, removeMeta, setMeta } from '../meta.ts'

/** A record of who stored a thing. */
export interface AuthorRow {
  readonly kind: string
  /** The thing: an entity's id, or `Type.name` for a part of a type. */
  readonly thing: string
  /** The digest of the declaration that the author stored: the record is for that declaration and no other. */
  readonly digest: string
  /** The key or the person whose rights these are. */
  readonly holder: string
  /** The actor, on whose behalf, and the rights, as JSON. */
  readonly record: string
  /** The last event before, or the event with which it was stored. */
  readonly seq: number
}

/** Says that things of an earlier version are here, whose authors are still to be written down. */
const TO_INHERIT = 'authors.inherit'

/** The record of the author who last stored this declaration of a thing. */
export function authorRecord(sql: Sql, kind: string, thing: string, digest: string): string | null {
  const rows = sql.rows(
    `SELECT record FROM authors
    WHERE kind = ? AND thing = ? AND digest = ?
    ORDER BY seq DESC
    LIMIT 1`,
    kind,
    thing,
    digest,
  )
  return rows[0]?.[0] ?? null
}

/**
 * The newest author's record of each thing that is an entity (webhooks, workflows, hooks, integrations and agents), and all
 * of one with runs that have not ended: they may have begun with an earlier one.
 */
export function authorRecords(sql: Sql): string[] {
  return sql
    .rows(
      `SELECT record
      FROM authors
      WHERE EXISTS (SELECT 1 FROM entities WHERE entities.id = authors.thing AND entities.gone = 0)
        AND (
          seq = (SELECT max(other.seq) FROM authors AS other WHERE other.kind = authors.kind AND other.thing = authors.thing)
          OR EXISTS (SELECT 1 FROM workflow_runs WHERE workflow = authors.thing AND ended_at IS NULL))`,
    )
    .map(([record]) => record)
}

export function saveAuthor(sql: Sql, { kind, thing, digest, holder, record, seq }: AuthorRow): void {
  sql.run(
    `INSERT INTO authors (kind, thing, digest, seq, holder, record)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, thing, digest, seq) DO UPDATE
    SET holder = excluded.holder, record = excluded.record`,
    kind,
    thing,
    digest,
    seq,
    holder,
    record,
  )
}

/** The things of a kind that a key or a person has ever stored, with the digests of what they stored. */
export function storedBy(sql: Sql, kind: string, holder: string): string[] {
  return sql
    .rows('SELECT DISTINCT thing FROM authors WHERE holder = ? AND kind = ? ORDER BY thing', holder, kind)
    .map(([thing]) => thing)
}

/** Forgets that a key or a person stored a thing: it does not run with their rights any more. */
export function dropAuthor(sql: Sql, kind: string, thing: string, holder: string): void {
  sql.run('DELETE FROM authors WHERE kind = ? AND thing = ? AND holder = ?', kind, thing, holder)
}

/** Whether authors of an earlier version are still to be written down. */
export function mustInherit(sql: Sql): boolean {
  return getMeta(sql, TO_INHERIT) !== null
}

export function setInherit(sql: Sql, must: boolean): void {
  if (must) setMeta(sql, TO_INHERIT, '1')
  else removeMeta(sql, TO_INHERIT)
}
