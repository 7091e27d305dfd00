import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { personOf } from '../contender.ts'

/** How a product on SQLite stores its rows when its users change nothing: its connections set neither value. */
export const SQLITE_DURABILITY = 'SQLite with journal_mode=delete and synchronous=FULL, synced before every answer'

/**
 * Writes the persons into the table that a product has created, with columns of its own. This takes seconds; through the
 * product it would take minutes.
 */
export function insertPersons(
  file: string,
  rows: number,
  tenants: number | undefined,
  own: (i: number) => { readonly [column: string]: SQLInputValue },
): void {
  const db = new DatabaseSync(file)
  const rowOf = (i: number) => ({ ...personOf(i, tenants), ...own(i) })
  const columns = Object.keys(rowOf(0))
  const insert = db.prepare(`INSERT INTO persons (${columns}) VALUES (${columns.map(() => '?')})`)
  db.exec('BEGIN IMMEDIATE')
  for (let i = 0; i < rows; i++) insert.run(...Object.values(rowOf(i)))
  db.exec('COMMIT')
  db.close()
}

/** The numbers of the persons that are read and updated: every seventh, which are of all sources and tenants. */
export function someOf(rows: number): number[] {
  return Array.from({ length: Math.ceil(rows / 7) }, (_, i) => i * 7)
}
