import type { Sql } from '../../ports.ts'

/** A hook that the tenant stores: its code and the version of that. */
export interface StoredHook {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly code: string
  readonly version: number
  readonly suspended: boolean
}

/** All hooks that the tenant stores. */
export function storedHooks(sql: Sql): StoredHook[] {
  return sql
    .rows(`SELECT id, version, data FROM entities WHERE type = 'Hook' AND gone = 0 ORDER BY n`)
    .map(([id, version, data]) => {
      const { type, name, code, suspended = false } = JSON.parse(data)
      return { id, type, name, code, version, suspended }
    })
}
