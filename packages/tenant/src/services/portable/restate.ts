import type { JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { toEnd } from '../../engine/turns.ts'
import { INTERNAL_TYPES } from '../../engine/types.ts'
import { type Current, currentOf, insertEntity, supersede } from '../../store/entities.ts'
import { updateFieldIndex } from '../../store/field-index.ts'
import { eraseValues } from '../../store/log/erase.ts'
import type { LogRow } from '../../store/log/log.ts'
import { dropFields, rebuildFieldIndex } from '../../store/schema.ts'
import { noteReplayedFiles } from '../files/replayed.ts'

/**
 * Makes the state follow an event of the log, as the verb did when it ran: entities and the index over fields. `state` is the
 * data of the event, `current` the entity before it.
 */
export function restate(engine: Engine, event: LogRow, state: JsonObject | null, current: Current | null): void {
  engine.cache.forget(event.type)
  noteReplayedFiles(engine, engine.nouns.get(event.type), event)
  if (!changesState(event)) return
  if (event.type === 'AccessRole') engine.cache.forget('Schema')
  if (event.type === 'Schema') redeclare(engine, event, state, current)
  else place(engine, event, state, current)
  if (event.type === 'Erasure' && state !== null) {
    const { type, entity } = state as { type: string; entity: string }
    eraseValues(engine.sql, engine.ports.seal, type, entity, currentOf(engine.sql, type, entity)?.ordinal ?? null)
  }
}

/** A tracked event is nothing but its row in the log; a conflict keeps what lost and changes nothing. */
export function changesState({ type, verb }: LogRow): boolean {
  return type !== 'Event' && verb !== 'conflict'
}

function place(engine: Engine, event: LogRow, state: JsonObject | null, current: Current | null): void {
  const { sql } = engine
  const deleted = event.verb === 'delete'
  const { seq, version, at, type } = event
  const next = { deleted, seq, version, updatedAt: at, data: event.data ?? '{}' }
  const { createdAt, createdBy } = event
  const ordinal = current?.ordinal ?? seq
  if (current) supersede(sql, current, { ...current, ...next })
  else insertEntity(sql, { ordinal, id: event.entity, type, createdAt, createdBy, ...next })
  const noun = INTERNAL_TYPES.get(type) ?? engine.nouns.get(type)
  if (!noun) return
  const before = current && !current.deleted ? (JSON.parse(current.data) as JsonObject) : null
  updateFieldIndex(sql, noun, engine.indexed(noun), ordinal, seq, before, deleted ? null : state)
}

/** A type that was declared or taken back changes what is indexed, of the past as well. */
function redeclare(engine: Engine, event: LogRow, state: JsonObject | null, current: Current | null): void {
  const name = state?.name as string
  const before = engine.nouns.get(name)
  place(engine, event, state, current)
  engine.cache.forget('Schema')
  const after = engine.nouns.get(name)
  if (after?.name === name) toEnd(rebuildFieldIndex(engine.sql, after, before ?? null))
  else dropFields(engine.sql, name)
}
