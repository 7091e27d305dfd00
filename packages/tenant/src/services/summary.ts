import type { Engine } from '../engine/engine.ts'
import { countsByType } from '../store/entities.ts'
import { readEntry } from '../store/log.ts'

/** How many entities of each type there are, and when the first event was. */
export function summaryOf(tenant: Engine): { first: number | null; entities: { [type: string]: number } } {
  return { first: readEntry(tenant.sql, 1)?.at ?? null, entities: Object.fromEntries(countsByType(tenant.sql)) }
}
