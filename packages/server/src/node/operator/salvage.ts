import { salvagedLog } from '@tildebase/tenant/internal'
import { systemSeal } from '../../host/ports.ts'
import { openSql } from '../sqlite/sql.ts'

/** The lines of a log with all that can be read of the file at a path after an event. SQLite may change the file. */
export function* salvage(path: string, slug: string, after: number): Generator<string> {
  const sql = openSql(path)
  try {
    yield* salvagedLog(sql, systemSeal, slug, after)
  } finally {
    sql.close()
  }
}
