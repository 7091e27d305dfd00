import type { Sql } from '../../ports.ts'
import { allOf } from '../entities.ts'

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
  return allOf(sql, 'Hook').map(({ id, version, data }) => {
    const { type, name, code, suspended = false } = JSON.parse(data)
    return { id, type, name, code, version, suspended }
  })
}
