import type { Sql } from '../ports.ts'

/** A hook that the tenant stores: its code, the version of that, and the rights it runs with. */
export interface StoredHook {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly code: string
  readonly version: number
  /** The rights of the key that stored it, as they were at that time; null for a hook from before they were kept. */
  readonly grant: { readonly scopes: readonly never[]; readonly rows: { readonly [type: string]: unknown } } | null
  readonly suspended: boolean
}

/** All hooks that the tenant stores. */
export function storedHooks(sql: Sql): StoredHook[] {
  return sql
    .rows(`SELECT id, version, data FROM entities WHERE type = 'Hook' AND gone = 0 ORDER BY n`)
    .map(([id, version, data]) => {
      const { type, name, code, grant = null, suspended = false } = JSON.parse(data)
      return { id, type, name, code, version, grant, suspended }
    })
}
