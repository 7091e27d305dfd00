import type { Sql } from '../../ports.ts'
import { indexVersions } from '../../store/log/versions.ts'
import type { Moment } from '../reader.ts'

export const PRESENT: Moment = { asOf: null }

/**
 * The present, or the moment right after an event, with the past folded that it is answered from. Call it outside of a
 * question's time, which that may exceed.
 */
export function momentOf(sql: Sql, asOf: number | null | undefined): Moment {
  if (asOf === null || asOf === undefined) return PRESENT
  indexVersions(sql)
  return { asOf }
}
