import { countsByType } from './store/entities.ts'
import { readEntry } from './store/log.ts'
import type { Tenant } from './tenant.ts'

/** How many entities of each type there are, and when the first event was. */
export function census(tenant: Tenant): { first: number | null; entities: { [type: string]: number } } {
  return { first: readEntry(tenant.sql, 1)?.at ?? null, entities: Object.fromEntries(countsByType(tenant.sql)) }
}
