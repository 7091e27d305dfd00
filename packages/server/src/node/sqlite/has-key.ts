import { hasPeople as anyPeople, keyIdOf, knowsToken } from '@tildebase/tenant/internal'
import { systemSeal } from '../../host/ports.ts'
import { refuseDamaged } from './file-damage.ts'
import { openSql } from './sql.ts'

/**
 * Whether the file of a closed tenant knows a key, a token or a session, valid or not any more. Opens no tenant: a
 * client with an invalid key starts none of its jobs and closes no other tenant.
 */
export function hasKey(path: string, secret: string): boolean {
  return during(path, (sql) => keyIdOf(sql, systemSeal, secret) !== null || knowsToken(sql, systemSeal, secret))
}

/** Whether any person can sign in to a closed tenant. */
export function hasPeople(path: string): boolean {
  return during(path, anyPeople)
}

function during<T>(path: string, work: (sql: ReturnType<typeof openSql>) => T): T {
  refuseDamaged(path)
  const sql = openSql(path, { cacheKiB: 64 })
  try {
    return work(sql)
  } finally {
    sql.close()
  }
}
