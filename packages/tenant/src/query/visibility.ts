import { matchesEvent } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type Grant, isNarrowed, rowsOf } from '../grant/grant.ts'
import type { LogRow } from '../store/log.ts'
import { stateOf } from '../view/event.ts'
import { rowTest } from './memory.ts'
import { readable, readContextOf } from './parameters.ts'

/** Which events somebody wants and may see. Good until a key or the schema changes; make it anew then. */
export interface EventVisibility {
  /** Whether events of this name are wanted and of a type that may be read. */
  wants(type: string, event: string): boolean
  /** The same for one event, whose entity must be among the rows that the grant is narrowed to. */
  sees(row: LogRow): boolean
  /** True when no row is left out for what is in it: the names alone decide. */
  readonly byName: boolean
}

/** The sight of a grant through patterns; null is all events. */
export function visibilityOf(tenant: Engine, grant: Grant, patterns: readonly string[] | null): EventVisibility {
  const answers = new Map<string, boolean>()
  const wants = (type: string, event: string): boolean => {
    const name = `${type}.${event}`
    const known = answers.get(name)
    if (known !== undefined) return known
    const wanted = patterns === null || patterns.some((pattern) => matchesEvent(pattern, type, event))
    const answer = wanted && readable(tenant, grant, type)
    answers.set(name, answer)
    return answer
  }
  return {
    wants,
    sees: (row) => wants(row.type, row.event) && isShown(tenant, grant, row),
    byName: !isNarrowed(grant),
  }
}

/** What tells apart those who may see different things: two grants of the same view see the same of every event. */
export function viewKey({ scopes, rows }: Grant): string {
  return JSON.stringify([scopes, rows])
}

/** Whether the entity, as the event left it, is among the rows of the grant. */
function isShown(tenant: Engine, grant: Grant, row: LogRow): boolean {
  if (!isNarrowed(grant)) return true
  const rows = tenant.nouns.get(row.type) ? rowsOf(tenant, grant, row.type) : null
  if (rows === null) return true
  // What an erasure has emptied cannot be tested, so it is not shown to those who may see only some rows.
  return row.data !== null && rowTest(readContextOf(tenant, grant), row.type, rows)(stateOf(row, row.data))
}
