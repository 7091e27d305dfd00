import { Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { newId } from '../ids.ts'
import { currentOf } from '../store/entities.ts'
import { type LogRow, readCorrelated } from '../store/log.ts'
import { runVerb } from './run-verb.ts'

/** What an undo did. */
export interface UndoResult {
  /** What the undo itself can be undone by. */
  readonly correlation: string
  readonly undone: number
  /** Tracked events that stay, since what happened has happened. */
  readonly kept: readonly string[]
}

/** Why something cannot be undone. */
interface Obstacle {
  readonly type: string
  readonly id: string
  readonly message: string
}

/** Takes back all that shares a correlation, the last first. All of it or nothing. Call inside a transaction. */
export function undo(tenant: Engine, grant: Grant, correlation: string): UndoResult {
  const events = readCorrelated(tenant.sql, correlation)
  if (events.length === 0) {
    throw new Problem('not_found', `Nothing was written under the correlation ${correlation.slice(0, 200)}.`, {
      id: correlation.slice(0, 200),
    })
  }
  const tracked = events.filter(({ type }) => type === 'Event')
  const changes = events.filter(({ type }) => type !== 'Event')
  refuse([...editedLater(tenant, changes), ...final(tenant, changes)])
  const { clock, random } = tenant.ports
  const own = newId('undo', clock, random)
  for (const event of changes.toReversed()) {
    const operation = inverse(event)
    runVerb(tenant, grant, { ...operation, type: event.type, id: event.entity, correlation: own })
  }
  return { correlation: own, undone: changes.length, kept: tracked.map(({ id }) => id) }
}

/** The verb that leads back to before an event. */
function inverse({ verb, version }: LogRow): { verb: string; data: { version?: number } } {
  if (verb === 'create' || verb === 'restore') return { verb: 'delete', data: {} }
  if (verb === 'delete') return { verb: 'restore', data: {} }
  return { verb: 'rollback', data: { version: version - 1 } }
}

/** Entities whose newest event is not one of these. */
function editedLater(tenant: Engine, events: readonly LogRow[]): Obstacle[] {
  const newest = new Map(events.map((event) => [event.entity, event]))
  return [...newest.values()]
    .filter((event) => currentOf(tenant.sql, event.type, event.entity)?.seq !== event.seq)
    .map(({ type, entity: id }) => ({ type, id, message: 'was edited later' }))
}

/** Events of types that have no way back: a revoked key stays revoked. */
function final(tenant: Engine, events: readonly LogRow[]): Obstacle[] {
  return events
    .filter((event) => !Object.hasOwn(tenant.nouns.get(event.type)?.verbs ?? {}, inverse(event).verb))
    .map(({ type, entity: id, event }) => ({ type, id, message: `${type}.${event} cannot be taken back` }))
}

function refuse(obstacles: readonly Obstacle[]): void {
  if (obstacles.length === 0) return
  const list = obstacles.slice(0, 5).map(({ id, message }) => `${id} ${message}`)
  const more = obstacles.length > 5 ? ` and ${obstacles.length - 5} more` : ''
  throw new Problem('conflict', `Nothing was undone: ${list.join('; ')}${more}.`, { details: obstacles })
}
