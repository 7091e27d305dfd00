import { checkPatch, invalid, type Json, type JsonObject, type Noun, Problem, sameJson } from '@tildebase/nouns'
import { demand, isNarrowed } from '../../grant/grant.ts'
import { isId } from '../../ids.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { writeClock } from '../../store/clocks.ts'
import { type Current, currentOf } from '../../store/entities.ts'
import { hasEntry } from '../../store/log/log.ts'
import { runVerb } from '../../write/run-verb.ts'
import { notFound } from '../../write/verb.ts'
import type { Change } from './change.ts'
import { conflicted } from './conflict.ts'
import { decide, EXISTENCE, isLater, type Register, registersOf } from './register.ts'
import { type SyncSession, wasSeenLast } from './sync-session.ts'
import { joined } from './vector-clock.ts'

/** Types that stay on the server. */
const UNSYNCED = new Set(['ApiKey', 'Webhook', 'Changeset'])

/** Whether entities of this type take part in syncs. */
export function isSynced(type: string): boolean {
  return !UNSYNCED.has(type)
}

/** Applies a change, field by field. False when it lost on every field. An invalid change is a Problem. */
export function applyChange(session: SyncSession, change: Change): boolean {
  const { write } = session
  const { engine, grant } = write
  const noun = engine.noun(change.type)
  demand(grant, 'write', noun)
  if (!isSynced(noun.name)) throw new Problem('forbidden', `${noun.name} is not synchronised.`, { type: noun.name })
  const current = currentOf(engine.sql, noun.name, change.id)
  if (!current) return applyToNothing(session, noun, change)
  const isSeen = () => (current.deleted ? wasSeenLast(session, current) : isVisible(engine, grant, noun, change.id))
  if (isNarrowed(grant) && !isSeen()) throw notFound(noun.name, change.id)
  if (change.operation === 'delete') return remove(session, noun, change, current)
  if (!current.deleted) return merge(session, noun, change, current)
  if (!revives(session, noun, change, current)) return false
  runVerb(write, { type: noun.name, verb: 'restore', id: change.id })
  const restored = currentOf(engine.sql, noun.name, change.id)!
  stamp(session, change, EXISTENCE, restored.seq)
  merge(session, noun, change, restored)
  return true
}

function applyToNothing(session: SyncSession, noun: Noun, change: Change): boolean {
  const { write } = session
  const { engine } = write
  const { id } = change
  if (change.operation !== 'create') throw notFound(noun.name, id)
  if (!isId(id, noun.prefix)) {
    throw new Problem('invalid_parameter', `${id} is not an id of ${noun.name}, which has the form ${noun.prefix}_….`, {
      type: noun.name,
      field: 'id',
    })
  }
  // A tracked event is the log record itself, and never changes.
  if (noun.storage === 'log' && hasEntry(engine.sql, id)) return true
  const data = { ...change.data, $id: id }
  const { entity, event } = runVerb(write, { type: noun.name, verb: 'create', data, keepId: true, dropsComputed: true })
  if (noun.storage === 'log') return true
  const decided = new Set([EXISTENCE, ...Object.keys(JSON.parse(entity.data)), ...clearedBy(change)])
  for (const field of decided) stamp(session, change, field, event!.seq)
  return true
}

function merge(session: SyncSession, noun: Noun, change: Change, current: Current): boolean {
  const { write } = session
  const { engine } = write
  const checked = checkPatch(noun, change.data, write.now(), { dropsComputed: true })
  if (checked.issues.length > 0) throw invalid(noun.name, checked.issues)
  const fields = Object.keys(checked.data)
  const registers = registersOf(engine, current, fields)
  const state = JSON.parse(current.data) as JsonObject
  const won: Record<string, Json> = {}
  const lost: Record<string, Json> = {}
  const stamped: string[] = []
  for (const field of fields) {
    const verdict = decide(change, registers.get(field), session.lastSyncAt)
    const differs = !sameJson(valueIn(state, field), checked.data[field]!)
    if (verdict === 'wins') stamped.push(field)
    if (verdict === 'wins' && differs) won[field] = checked.data[field]!
    if (verdict === 'loses' && differs) lost[field] = checked.data[field]!
  }
  const { id } = current
  const done = Object.keys(won).length > 0 ? runVerb(write, { type: noun.name, verb: 'update', id, data: won }) : null
  const changed = done?.event ? Object.keys(JSON.parse(done.event.previous ?? '{}')) : []
  for (const field of stamped) {
    const before = registers.get(field)
    stamp(session, change, field, changed.includes(field) ? done?.event?.seq : (before?.seq ?? current.seq), before)
  }
  if (Object.keys(lost).length === 0) return true
  conflicted(session, change, currentOf(engine.sql, noun.name, id)!, lost)
  return Object.keys(lost).length < fields.length
}

/** Whether a change brings a deleted entity back: it comes after the deletion. What does not is kept as a conflict. */
function revives(session: SyncSession, noun: Noun, change: Change, current: Current): boolean {
  const checked = checkPatch(noun, change.data, session.write.now(), { dropsComputed: true })
  if (checked.issues.length > 0) throw invalid(noun.name, checked.issues)
  const deletion = registersOf(session.write.engine, current, []).get(EXISTENCE)!
  const verdict = decide(change, deletion, session.lastSyncAt)
  // An update whose author has seen the deletion is probably late, and does not restore the entity.
  const wins =
    verdict === 'wins' && (change.operation === 'create' || change.clock !== null || isLater(change, deletion))
  if (!wins && verdict !== 'same') conflicted(session, change, current, checked.data)
  return wins
}

function remove(session: SyncSession, noun: Noun, change: Change, current: Current): boolean {
  const { write } = session
  const { engine } = write
  const fields = current.deleted ? [] : Object.keys(JSON.parse(current.data))
  const registers = registersOf(engine, current, fields)
  const verdicts = [...registers.values()].map((register) => decide(change, register, session.lastSyncAt))
  if (current.deleted) {
    if (verdicts.includes('wins')) stamp(session, change, EXISTENCE, current.seq, registers.get(EXISTENCE))
    return true
  }
  if (verdicts.includes('loses')) {
    conflicted(session, change, current, { $operation: 'delete' })
    return false
  }
  const { event } = runVerb(write, { type: noun.name, verb: 'delete', id: current.id })
  stamp(session, change, EXISTENCE, event!.seq, registers.get(EXISTENCE))
  return true
}

/** Writes down that a change decided a field, which an event has brought to its value. */
function stamp(
  { write }: SyncSession,
  { id, at, replica, clock }: Change,
  field: string,
  seq: number | undefined,
  before?: Register,
): void {
  if (seq === undefined) return
  const seen = clock && JSON.stringify(joined(before ? [before.clock, clock] : [clock]))
  writeClock(write.sql, id, field, { seq, at, replica, clock: seen })
}

function clearedBy({ data }: Change): string[] {
  return Object.keys(data).filter((field) => data[field] === null)
}

function valueIn(state: JsonObject, field: string): Json {
  return Object.hasOwn(state, field) ? state[field]! : null
}
