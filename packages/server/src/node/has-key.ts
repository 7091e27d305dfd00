import { keyIdOf } from '@tildebase/tenant/host'
import { systemSeal } from '../host/ports.ts'
import { refuseDamaged } from './file-damage.ts'
import { openSql } from './sql.ts'

/**
 * Whether the file of a closed tenant knows a key, valid or not any more. Opens no tenant: a stranger with a key that
 * nobody gave out starts none of its jobs and closes no other tenant.
 */
export function hasKey(path: string, secret: string): boolean {
  refuseDamaged(path)
  const sql = openSql(path, { cacheKiB: 64 })
  try {
    return keyIdOf(sql, systemSeal, secret) !== null
  } finally {
    sql.close()
  }
}
