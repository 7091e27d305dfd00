import type { Sql } from '../ports.ts'

/** Writes a compact copy of the database to a file. */
export function copyTo(sql: Sql, path: string): void {
  sql.run('VACUUM INTO ?', path)
}
