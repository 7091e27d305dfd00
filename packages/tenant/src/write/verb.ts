import {
  checkDraft,
  checkPatch,
  type ForwardField,
  type Issue,
  invalid,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  sameJson,
  type Verb,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { isId, newId } from '../ids.ts'
import { INTERNAL } from '../services/schema.ts'
import { storedHook } from '../services/scripts/stored.ts'
import { type Current, currentOf, exists, insertEntity, type Stored, supersede } from '../store/entities.ts'
import { fieldIndexChanges, writeFieldIndex } from '../store/field-index.ts'
import { type LogRow, readEntry } from '../store/log.ts'
import { stateAt } from '../store/versions.ts'
import { entityView } from '../view/entity.ts'
import { changes, checkTransition, merge, settings } from './execute.ts'
import { askStoredHook } from './hook-retry.ts'
import { rejected } from './hooks.ts'
import { momentOf } from './rollback.ts'

/** One verb to run. */
export interface VerbRequest {
  readonly type: string
  readonly verb: string
  readonly id?: string
  /** The draft, the patch or the verb's arguments. */
  readonly data?: unknown
  /** Who asks: the id of a key, `operator`, `system`, or a hook's name. */
  readonly actor: string
  /** The versions that the sender would change; any other is a mismatch. */
  readonly ifVersions?: readonly number[]
  readonly correlation?: string | null
  /** Ids that count as being there: they come in the same transaction. */
  readonly pendingIds?: ReadonlySet<string>
  /** Keeps a well-formed `$id` of the draft, as imports and syncs do. */
  readonly keepId?: boolean
  /** A verb of the service's own, which no client can name. */
  readonly internalVerb?: Verb
  /** Values of service-set fields, from the service itself. */
  readonly serviceFields?: JsonObject
}

/** What a verb did. `event` is null when nothing changed. */
export interface VerbResult {
  readonly entity: Stored
  readonly event: LogRow | null
}

const MAX_ENTITY_BYTES = 1_048_576

/** Runs a verb: BEFORE, execute, its event. AFTER follows once the event is durable. Call inside a transaction. */
export function applyVerb(tenant: Engine, ask: VerbRequest): VerbResult {
  const noun = INTERNAL.get(ask.type) ?? tenant.noun(ask.type)
  const verb = ask.internalVerb ?? verbOf(noun, ask.verb)
  if (verb.name === 'create') return create(tenant, noun, verb, ask)
  const before = presentFor(tenant, noun, verb, ask)
  switch (verb.name) {
    case 'delete':
      return remove(tenant, noun, verb, ask, before)
    case 'restore':
      return restore(tenant, noun, verb, ask, before)
    case 'rollback':
      return rollback(tenant, noun, verb, ask, before)
    default:
      return change(tenant, noun, verb, ask, before)
  }
}

function create(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest): VerbResult {
  const now = tenant.now()
  const given = before(tenant, noun, verb, objectOf(noun, ask.data), {})
  const checked = checkDraft(noun, given, now)
  const data = ask.serviceFields ? { ...checked.data, ...ask.serviceFields } : checked.data
  refuse(noun, [
    ...checked.issues.filter(({ field }) => !ask.serviceFields || !(field in ask.serviceFields)),
    ...missing(tenant, noun, data, ask),
  ])
  const id = keptId(tenant, noun, ask) ?? newId(noun.prefix, tenant.ports.clock, tenant.ports.random)
  const text = textOf(noun, data)
  const head = { id, type: noun.name, version: 1, createdAt: now, createdBy: ask.actor, updatedAt: now, data: text }
  if (noun.name === 'Event') {
    // A tracked event is the log record itself: one row, no entity beside it.
    const event = tenant.append(verb, ask, { ...head, ordinal: 0 }, null, null, id)
    return { entity: { ...head, ordinal: event.seq }, event }
  }
  const seq = tenant.head.seq + 1
  const entity = { ...head, ordinal: seq, seq, deleted: false }
  const moves = fieldIndexChanges(tenant.sql, noun, tenant.indexed(noun), seq, null, data)
  insertEntity(tenant.sql, entity)
  writeFieldIndex(tenant.sql, moves, seq, seq)
  return { entity, event: tenant.append(verb, ask, entity, null, null) }
}

function change(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest, current: Current): VerbResult {
  const now = tenant.now()
  const state = JSON.parse(current.data) as JsonObject
  checkTransition(noun, verb, state)
  const args = before(tenant, noun, verb, objectOf(noun, ask.data ?? {}), current)
  const patch = checkPatch(noun, args, now)
  const set = settings(noun, verb, state, { ...args, ...patch.data }, now, tenant.compute)
  const service = ask.serviceFields ?? {}
  const changed = { ...patch.data, ...set.data, ...service }
  refuse(noun, [...patch.issues, ...set.issues, ...missing(tenant, noun, changed, ask, state)])
  return write(tenant, noun, verb, ask, current, state, merge(state, changed))
}

function rollback(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest, current: Current): VerbResult {
  const args = before(tenant, noun, verb, objectOf(noun, ask.data ?? {}), current)
  const past = stateAt(tenant.sql, current, momentOf(tenant, noun, current, args))
  if (!past) {
    throw new Problem('not_found', `This ${noun.name} was not there at that time.`, {
      type: noun.name,
      id: current.id,
      field: 'asOf',
    })
  }
  return write(tenant, noun, verb, ask, current, JSON.parse(current.data), JSON.parse(past.data))
}

function remove(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest, current: Current): VerbResult {
  before(tenant, noun, verb, objectOf(noun, ask.data ?? {}), current)
  const after = next(tenant, current, { deleted: true })
  replace(tenant, noun, current, after, JSON.parse(current.data), null)
  return { entity: after, event: tenant.append(verb, ask, after, null, current) }
}

function restore(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest, current: Current): VerbResult {
  if (!current.deleted) {
    throw new Problem('invalid_transition', `This ${noun.name} is not deleted; there is nothing to restore.`, {
      type: noun.name,
      id: current.id,
    })
  }
  if (readEntry(tenant.sql, current.seq)?.data === null) throw notFound(noun.name, current.id)
  before(tenant, noun, verb, objectOf(noun, ask.data ?? {}), current)
  const after = next(tenant, current, { deleted: false })
  replace(tenant, noun, current, after, null, JSON.parse(current.data))
  return { entity: after, event: tenant.append(verb, ask, after, {}, current) }
}

/** Writes the next state of an entity. An update that changes nothing keeps the version and emits nothing. */
function write(
  tenant: Engine,
  noun: Noun,
  verb: Verb,
  ask: VerbRequest,
  current: Current,
  from: JsonObject,
  to: JsonObject,
): VerbResult {
  const previous = changes(from, to)
  const quiet = verb.event === 'updated'
  if (previous === null && quiet) return { entity: current, event: null }
  const after = next(tenant, current, { data: textOf(noun, to) })
  replace(tenant, noun, current, after, from, previous ? to : from)
  return { entity: after, event: tenant.append(verb, ask, after, previous ?? {}, current) }
}

/** Puts the next version in place of the current one. Whatever can refuse it comes before the first write. */
function replace(
  tenant: Engine,
  noun: Noun,
  current: Current,
  after: Current,
  from: JsonObject | null,
  to: JsonObject | null,
): void {
  const moves = from === to ? [] : fieldIndexChanges(tenant.sql, noun, tenant.indexed(noun), current.ordinal, from, to)
  supersede(tenant.sql, current, after)
  writeFieldIndex(tenant.sql, moves, current.ordinal, after.seq)
}

/** The verb of that name, or a problem that names those there are. */
function verbOf(noun: Noun, name: string): Verb {
  const verb = Object.hasOwn(noun.verbs, name) ? noun.verbs[name] : undefined
  if (verb) return verb
  const builtIn = name === 'update' || name === 'delete'
  const verbs = Object.keys(noun.verbs)
  throw new Problem(
    builtIn ? 'method_not_allowed' : 'unknown_verb',
    `${noun.name} has no verb ${name}. It has ${verbs.join(', ')}.`,
    { type: noun.name, verbs },
  )
}

/** The entity a verb runs on, when the sender may see it and has seen its newest version. */
function presentFor(tenant: Engine, noun: Noun, verb: Verb, ask: VerbRequest): Current {
  const current = currentOf(tenant.sql, noun.name, ask.id ?? '')
  const wanted = current && (verb.name === 'restore' || !current.deleted)
  if (!wanted) throw notFound(noun.name, ask.id ?? '')
  if (ask.ifVersions?.includes(current.version) === false) {
    throw new Problem(
      'version_mismatch',
      `This ${noun.name} is at version ${current.version}, and not at one that you name. Read it again and decide anew.`,
      { type: noun.name, id: current.id, version: current.version },
    )
  }
  return current
}

export function notFound(type: string, id: string): Problem {
  return new Problem('not_found', `There is no ${type} ${id}.`, { type, id })
}

/** Runs the BEFORE hooks; each may change the payload or refuse the verb. */
function before(tenant: Engine, noun: Noun, verb: Verb, given: JsonObject, current: Current | {}): JsonObject {
  const hooks = tenant.options.hooks?.before(noun.name, verb.before) ?? []
  let payload = given
  for (const hook of hooks) {
    const entity = 'id' in current ? { ...entityView(current, tenant.context), ...payload } : payload
    try {
      const changed = hook(entity, tenant.session(`hook:${noun.name}.${verb.before}`), payload)
      if (changed) payload = { ...payload, ...changed }
    } catch (reason) {
      throw rejected(noun.name, verb.name, reason)
    }
  }
  const stored = storedHook(tenant, noun.name, verb.before)
  if (!stored) return payload
  const entity = 'id' in current ? { ...entityView(current, tenant.context), ...payload } : payload
  return { ...payload, ...askStoredHook(tenant, stored, verb.name, entity, payload) }
}

function objectOf(noun: Noun, data: unknown): JsonObject {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as JsonObject
  throw invalid(noun.name, [{ field: '', message: 'the body must be a JSON object' }])
}

/** References to entities that are not there. One that stands already may dangle: its target was deleted since. */
function missing(tenant: Engine, noun: Noun, data: JsonObject, ask: VerbRequest, before: JsonObject = {}): Issue[] {
  const issues: Issue[] = []
  for (const { name, target } of relationsOf(noun)) {
    const value = Object.hasOwn(data, name) ? data[name]! : null
    if (value === null || sameJson(value, before[name] ?? null)) continue
    for (const id of Array.isArray(value) ? value : [value]) {
      if (!exists(tenant.sql, target, String(id)) && !ask.pendingIds?.has(String(id))) {
        issues.push({ field: name, message: `there is no ${target} ${id}` })
      }
    }
  }
  return issues
}

const relations = new WeakMap<Noun, readonly ForwardField[]>()

function relationsOf(noun: Noun): readonly ForwardField[] {
  const known = relations.get(noun)
  if (known) return known
  const found = Object.values(noun.fields).filter((field) => field.kind === 'forward')
  relations.set(noun, found)
  return found
}

function refuse(noun: Noun, issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(noun.name, issues)
}

function keptId(tenant: Engine, noun: Noun, ask: VerbRequest): string | null {
  const id = ask.keepId ? (ask.data as JsonObject).$id : undefined
  if (id === undefined) return null
  if (!isId(id, noun.prefix)) return null
  const taken = noun.name === 'Event' ? tenant.hasEvent(id) : currentOf(tenant.sql, noun.name, id)
  if (taken) {
    throw new Problem('conflict', `There is a ${noun.name} ${id} already.`, { type: noun.name, id, field: '$id' })
  }
  return id
}

function next(tenant: Engine, current: Current, changed: Partial<Current>): Current {
  return { ...current, ...changed, seq: tenant.head.seq + 1, version: current.version + 1, updatedAt: tenant.now() }
}

function textOf(noun: Noun, data: { readonly [field: string]: Json }): string {
  const text = JSON.stringify(data)
  // No character takes more than three bytes per unit of its length: most texts need no counting.
  const bytes = text.length * 3 > MAX_ENTITY_BYTES ? new TextEncoder().encode(text).length : 0
  if (bytes > MAX_ENTITY_BYTES) {
    throw new Problem('too_large', `A ${noun.name} may hold 1 MiB of JSON; this one has ${bytes} bytes.`, {
      type: noun.name,
      limit: MAX_ENTITY_BYTES,
    })
  }
  return text
}
