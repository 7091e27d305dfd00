import { Problem } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { LAYOUT, LAYOUT_VERSION } from './layout.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { moveRows, type Progress } from './migrations/move-rows.ts'

/** Where a copy of a log was cut, until its next checkpoint is signed. */
export const CUT = 'proof.cut'

/** The seq up to which the text index is folded. The name counts the rules of the index: with another it is made again. */
export const TEXT_SEQ = 'text.2.seq'

/** Lays out an empty database. */
export function layOut(sql: Sql): void {
  sql.transaction(() => {
    for (const statement of LAYOUT) sql.run(statement)
    setMeta(sql, 'layout', String(LAYOUT_VERSION))
  })
}

/**
 * Makes sure the database has the layout this program works with: lays out an empty one, brings forward an older one,
 * refuses a newer one. `progress` receives how far the rows of a large one have been brought.
 */
export function ensureLayout(sql: Sql, progress: Progress = () => {}): void {
  const tables = tablesOf(sql)
  if (!tables.includes('meta')) {
    if (tables.some((name) => TABLES.includes(name))) throw missing('meta')
    layOut(sql)
    return
  }
  const version = Number(getMeta(sql, 'layout'))
  if (version > LAYOUT_VERSION) {
    throw new Problem(
      'layout_too_new',
      `This tenant's file has layout ${version}; this version of Tildebase supports layouts up to ${LAYOUT_VERSION}. Start a newer version.`,
    )
  }
  if (version < LAYOUT_VERSION) bringForward(sql, version)
  const found = version < LAYOUT_VERSION ? tablesOf(sql) : tables
  const gone = TABLES.find((name) => !found.includes(name))
  if (gone !== undefined) throw missing(gone)
  if (version < FIRST_MOVED || tables.includes('log_10')) moveRows(sql, progress)
}

/** The names of all tables of a tenant. */
const TABLES = LAYOUT.flatMap((statement) => /^CREATE (?:VIRTUAL )?TABLE (\w+)/.exec(statement)?.[1] ?? [])

function tablesOf(sql: Sql): string[] {
  return sql.rows(`SELECT name FROM sqlite_schema WHERE type = 'table'`).flat() as string[]
}

function missing(table: string): Problem {
  return new Problem('unavailable', `The file of this tenant is damaged: it has no table ${table}. Restore a backup.`)
}

/** The first layout that the rows of an earlier one move to. */
const FIRST_MOVED = 11

/** A small fact about the tenant itself. */
export function getMeta(sql: Sql, key: string): string | null {
  return sql.rows('SELECT value FROM meta WHERE key = ?', key)[0]?.[0] ?? null
}

export function setMeta(sql: Sql, key: string, value: string): void {
  sql.run(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    value,
  )
}

export function removeMeta(sql: Sql, key: string): void {
  sql.run('DELETE FROM meta WHERE key = ?', key)
}

/** Where a log is cut that was perhaps cut before: nothing after the earlier cut is what was signed. */
export function earliestCut(sql: Sql, seq: number): string {
  return String(Math.min(seq, Number(getMeta(sql, CUT) ?? seq)))
}

function bringForward(sql: Sql, version: number): void {
  sql.transaction(() => {
    for (let from = version; from < LAYOUT_VERSION; from++) for (const step of MIGRATIONS[from]!) sql.run(step)
    setMeta(sql, 'layout', String(LAYOUT_VERSION))
  })
}
