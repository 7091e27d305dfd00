import { type Json, type JsonObject, type Look, matchesEvent } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, isNarrowed } from '../../grant/grant.ts'
import type { LogRow } from '../../store/log/log.ts'
import { eventView } from '../../view/event.ts'
import { recordTest } from '../answer/memory.ts'
import { mayReadEvents, readContextOf } from '../read-context.ts'
import { hidesChangesets } from './changeset-rows.ts'

/** The events that a reader requests and may see. Valid until a key or the schema changes. */
export interface EventVisibility {
  /** Whether events of this name are requested and of a readable type. */
  wants(type: string, event: string): boolean
  /** The record as the grant sees it, or null when it may not see it. `look` counts the elements of lists that its filters look at. */
  show(record: LogRow, look?: Look): LogRow | null
  /** True when no record is left out because of its values: the names alone decide. */
  readonly byName: boolean
}

/** What a grant sees of the log through patterns; null is all events. The one way to a log record. */
export function visibilityOf(engine: Engine, grant: Grant, patterns: readonly string[] | null): EventVisibility {
  const answers = new Map<string, boolean>()
  const wants = (type: string, event: string): boolean => {
    const name = `${type}.${event}`
    const known = answers.get(name)
    if (known !== undefined) return known
    const isWanted = patterns === null || patterns.some((pattern) => matchesEvent(pattern, type, event))
    const answer = isWanted && mayReadEvents(engine, grant, type)
    answers.set(name, answer)
    return answer
  }
  const show = recordView(engine, grant)
  return {
    wants,
    show: (record, look) => (wants(record.type, record.event) ? show(record, look) : null),
    byName: !isNarrowed(grant) && !hidesChangesets(engine, grant),
  }
}

/**
 * The rule about rows, which `visibilityOf` applies after that about types: a grant sees a record if the state in it matches the grant's row filter. The record
 * through which an entity enters the grant's view has no `previous`: those values were never visible.
 */
function recordView(engine: Engine, grant: Grant): EventVisibility['show'] {
  if (!isNarrowed(grant) && !hidesChangesets(engine, grant)) return (record) => record
  const test = recordTest(readContextOf(engine, grant))
  return (record, look) => {
    if (!test(record, look)) return null
    return record.previous === null || test(before(record), look) ? record : { ...record, previous: null }
  }
}

/** Records as a grant sees them, as JSON: those that it may not see are left out. */
export function shownEvents(engine: Engine, grant: Grant, records: readonly LogRow[]): JsonObject[] {
  const { show } = visibilityOf(engine, grant, null)
  return records.flatMap((record) => show(record) ?? []).map((record) => eventView(record, engine))
}

/** What tells apart grants that see different things: two of the same key see the same of every event. */
export function viewKey({ scopes, rows }: Grant): string {
  return JSON.stringify([scopes, rows])
}

/** A record with the state before it. */
function before(record: LogRow): LogRow {
  const state: Record<string, Json> = { ...(JSON.parse(record.data ?? '{}') as JsonObject) }
  for (const [field, value] of Object.entries(JSON.parse(record.previous!) as JsonObject)) {
    if (value === null) delete state[field]
    else state[field] = value
  }
  return { ...record, data: JSON.stringify(state) }
}
