import type { Engine } from '../engine/engine.ts'
import { countsByType } from '../store/entities.ts'
import { readEntry } from '../store/log/log.ts'

/** How many entities of each type there are. */
export function entitiesByType(engine: Engine): [type: string, count: number][] {
  return countsByType(engine.sql)
}

/** When the first event was, or null. */
export function firstEventAt(engine: Engine): number | null {
  return readEntry(engine.sql, 1)?.at ?? null
}
