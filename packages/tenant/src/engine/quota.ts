import { Problem } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'

/** From this part of the limit on, the status and the operator's list have a warning. */
const NEAR = 0.8

/** How much of its space a tenant uses. */
export interface StorageUse {
  readonly bytes: number
  readonly limit?: number
  readonly warning?: QuotaWarning
}

/** `near_quota` from 80 % of the limit on, `over_quota` once writes are refused. */
export type QuotaWarning = 'near_quota' | 'over_quota'

/** The bytes of a tenant, and the limit of the operator if there is one; null where the host cannot count them. */
export function storageUse(sql: Sql, limit: number | undefined): StorageUse | null {
  const bytes = sql.bytes?.()
  if (bytes === undefined) return null
  if (limit === undefined) return { bytes }
  const warning = quotaWarning(bytes, limit)
  return { bytes, limit, ...(warning && { warning }) }
}

/** What to say about so many bytes; null while there is room. */
export function quotaWarning(bytes: number, limit: number): QuotaWarning | null {
  if (bytes >= limit) return 'over_quota'
  return bytes >= limit * NEAR ? 'near_quota' : null
}

/** Refuses a write of a tenant that has reached its limit. */
export function demandSpace(sql: Sql, limit: number): void {
  const bytes = sql.bytes?.() ?? 0
  if (bytes < limit) return
  throw new Problem(
    'over_quota',
    `This tenant uses ${bytes} bytes and may use ${limit}. Reading, deleting and erasing are still possible.`,
    { bytes, limit },
  )
}
