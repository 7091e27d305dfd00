import type { Sql } from '../../ports.ts'
import { getMeta, setMeta } from '../meta.ts'

/** The tenant that a fork was made of, and the last event that both have. */
export interface Origin {
  readonly tenant: string
  readonly seq: number
}

const KEY = 'origin'

/** What this tenant is a fork of, or null. */
export function readOrigin(sql: Sql): Origin | null {
  const text = getMeta(sql, KEY)
  return text === null ? null : JSON.parse(text)
}

export function writeOrigin(sql: Sql, { tenant, seq }: Origin): void {
  setMeta(sql, KEY, JSON.stringify({ tenant, seq }))
}
