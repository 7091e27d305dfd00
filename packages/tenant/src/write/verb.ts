import {
  checkArguments,
  checkDraft,
  checkPatch,
  type Issue,
  invalid,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  type Verb,
} from '@tildebase/nouns'
import { INTERNAL_TYPES } from '../engine/types.ts'
import { isNarrowed } from '../grant/grant.ts'
import { isId } from '../ids.ts'
import { type Current, currentOf, insertEntity, supersede } from '../store/entities.ts'
import { fieldIndexChanges, writeFieldIndex } from '../store/field-index.ts'
import { hasEntry, readEntry } from '../store/log.ts'
import { stateAt } from '../store/versions.ts'
import { askBeforeHooks } from './before-hooks.ts'
import { changes, checkTransition, merge, settings } from './execute.ts'
import { MissingReferences, missingReferences } from './references.ts'
import { rollbackSeq } from './rollback.ts'
import type { VerbRequest, VerbResult } from './verb-request.ts'
import type { Write } from './write.ts'

const MAX_ENTITY_BYTES = 1_048_576

/** Runs a verb, whoever asks: BEFORE, execute, its event. AFTER follows once the event is durable. */
export function applyVerb(write: Write, request: VerbRequest): VerbResult {
  const noun = INTERNAL_TYPES.get(request.type) ?? write.engine.noun(request.type)
  const verb = request.internalVerb ?? verbOf(noun, request.verb)
  if (verb.name === 'create') return create(write, noun, verb, request)
  const current = currentFor(write, noun, verb, request)
  switch (verb.name) {
    case 'delete':
      return remove(write, noun, verb, request, current)
    case 'restore':
      return restore(write, noun, verb, request, current)
    case 'rollback':
      return rollback(write, noun, verb, request, current)
    default:
      return change(write, noun, verb, request, current)
  }
}

function create(write: Write, noun: Noun, verb: Verb, request: VerbRequest): VerbResult {
  const { sql, engine } = write
  const now = write.now()
  const given = askBeforeHooks(write, noun, verb, objectOf(noun, request.data), null)
  const checked = checkDraft(noun, given, now)
  const { serviceFields } = request
  const data = serviceFields ? { ...checked.data, ...serviceFields } : checked.data
  refuse(
    noun,
    checked.issues.filter(({ field }) => !serviceFields || !(field in serviceFields)),
    missingReferences(write, noun, data, request),
  )
  const id = keptId(write, noun, request) ?? write.newId(noun.prefix)
  const text = textOf(noun, data)
  const createdBy = write.grant.actor
  const head = { id, type: noun.name, version: 1, createdAt: now, createdBy, updatedAt: now, data: text }
  if (noun.storage === 'log') {
    // A tracked event is the log record itself: one row, no entity beside it.
    const event = write.append(verb, { ...head, ordinal: 0 }, { previous: null, id })
    return { entity: { ...head, ordinal: event.seq }, event }
  }
  const seq = engine.head.seq + 1
  const entity = { ...head, ordinal: seq, seq, deleted: false }
  const indexed = fieldIndexChanges(sql, noun, engine.indexed(noun), seq, null, data, !isNarrowed(write.grant))
  insertEntity(sql, entity)
  writeFieldIndex(sql, indexed, seq, seq)
  return { entity, event: write.append(verb, entity, { previous: null }) }
}

function change(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  const now = write.now()
  const state = JSON.parse(current.data) as JsonObject
  checkTransition(noun, verb, state)
  const args = askBeforeHooks(
    write,
    noun,
    verb,
    objectOf(noun, request.data === undefined ? {} : request.data),
    current,
  )
  const keeps = verb.keeps === 'event'
  const checked = keeps ? checkArguments(args) : checkPatch(noun, args, now)
  const set = settings(noun, verb, state, { ...args, ...checked.data }, now, write.extensions.compute)
  const changed = { ...(!keeps && checked.data), ...set.data, ...request.serviceFields }
  refuse(noun, [...checked.issues, ...set.issues], missingReferences(write, noun, changed, request, state))
  return update(write, noun, verb, current, state, merge(state, changed), argumentsText(noun, checked.data))
}

function rollback(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  const args = askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current)
  const past = stateAt(write.sql, current, rollbackSeq(write.engine, noun, current, args))
  if (!past) {
    throw new Problem('not_found', `This ${noun.name} did not exist at that time.`, {
      type: noun.name,
      id: current.id,
      field: 'asOf',
    })
  }
  const [from, to] = [JSON.parse(current.data), JSON.parse(past.data)]
  return update(write, noun, verb, current, from, to, argumentsText(noun, args))
}

function remove(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current)
  const after = next(write, current, { deleted: true })
  replace(write, noun, current, after, JSON.parse(current.data), null)
  return { entity: after, event: write.append(verb, after, { previous: null, replaced: current }) }
}

function restore(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  if (!current.deleted) {
    throw new Problem('invalid_transition', `This ${noun.name} is not deleted; there is nothing to restore.`, {
      type: noun.name,
      id: current.id,
    })
  }
  if (readEntry(write.sql, current.seq)?.data === null) throw notFound(noun.name, current.id)
  askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current)
  const after = next(write, current, { deleted: false })
  replace(write, noun, current, after, null, JSON.parse(current.data))
  return { entity: after, event: write.append(verb, after, { previous: {}, replaced: current }) }
}

/** Writes the next state of an entity. An update that changes nothing keeps the version and emits nothing. */
function update(
  write: Write,
  noun: Noun,
  verb: Verb,
  current: Current,
  from: JsonObject,
  to: JsonObject,
  args: string | null,
): VerbResult {
  const previous = changes(from, to)
  const isQuiet = verb.event === 'updated'
  if (previous === null && isQuiet) return { entity: current, event: null }
  const after = next(write, current, { data: textOf(noun, to) })
  replace(write, noun, current, after, from, previous ? to : from)
  return { entity: after, event: write.append(verb, after, { previous: previous ?? {}, replaced: current, args }) }
}

/** Puts the next version in place of the current one. Whatever can refuse it comes before the first write. */
function replace(
  { sql, engine, grant }: Write,
  noun: Noun,
  current: Current,
  after: Current,
  from: JsonObject | null,
  to: JsonObject | null,
): void {
  const { ordinal } = current
  const indexed =
    from === to ? [] : fieldIndexChanges(sql, noun, engine.indexed(noun), ordinal, from, to, !isNarrowed(grant))
  supersede(sql, current, after)
  writeFieldIndex(sql, indexed, ordinal, after.seq)
}

/** The verb of that name, or a problem that names those there are. */
function verbOf(noun: Noun, name: string): Verb {
  const verb = Object.hasOwn(noun.verbs, name) ? noun.verbs[name] : undefined
  if (verb) return verb
  const isBuiltIn = name === 'update' || name === 'delete'
  const verbs = Object.keys(noun.verbs)
  throw new Problem(
    isBuiltIn ? 'method_not_allowed' : 'unknown_verb',
    `${noun.name} has no verb ${name}. It has ${verbs.join(', ')}.`,
    { type: noun.name, verbs },
  )
}

/** The entity that a verb runs on, if the sender has seen its newest version. */
function currentFor(write: Write, noun: Noun, verb: Verb, { id = '', ifVersions }: VerbRequest): Current {
  const current = currentOf(write.sql, noun.name, id)
  const exists = current && (verb.name === 'restore' || !current.deleted)
  if (!exists) throw notFound(noun.name, id)
  if (ifVersions?.includes(current.version) === false) {
    const expected = ifVersions.length > 0 ? `, not ${ifVersions.join(' or ')}` : ''
    throw new Problem(
      'version_mismatch',
      `The ${noun.name} has version ${current.version}${expected}. Read it again and retry.`,
      { type: noun.name, id: current.id, version: current.version },
    )
  }
  return current
}

export function notFound(type: string, id: string): Problem {
  return new Problem('not_found', `There is no ${type} ${id}.`, { type, id })
}

function objectOf(noun: Noun, data: unknown): JsonObject {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as JsonObject
  throw invalid(noun.name, [{ field: '', message: 'the body must be a JSON object' }])
}

function refuse(noun: Noun, issues: readonly Issue[], references: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(noun.name, [...issues, ...references])
  if (references.length > 0) throw new MissingReferences(noun, references)
}

function keptId({ sql }: Write, noun: Noun, { keepId, data }: VerbRequest): string | null {
  const id = keepId ? (data as JsonObject).$id : undefined
  const isWellFormed = isId(id, noun.prefix) || (typeof id === 'string' && INTERNAL_TYPES.get(noun.name) !== undefined)
  if (!isWellFormed) return null
  const isTaken = noun.storage === 'log' ? hasEntry(sql, id) : currentOf(sql, noun.name, id) !== undefined
  if (isTaken) {
    throw new Problem('conflict', `There is a ${noun.name} ${id} already.`, { type: noun.name, id, field: '$id' })
  }
  return id
}

function next(write: Write, current: Current, changed: Partial<Current>): Current {
  const seq = write.engine.head.seq + 1
  return { ...current, ...changed, seq, version: current.version + 1, updatedAt: write.now() }
}

/** The arguments of a verb as its event keeps them; null when there are none. Secrets never stay in the log. */
function argumentsText(noun: Noun, args: JsonObject): string | null {
  if (INTERNAL_TYPES.get(noun.name) !== undefined) return null
  const kept = Object.entries(args).filter(([name]) => noun.fields[name]?.kind !== 'secret')
  return kept.length === 0 ? null : textOf(noun, Object.fromEntries(kept))
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
