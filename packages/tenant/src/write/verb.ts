import {
  checkArguments,
  checkDraft,
  checkPatch,
  type Issue,
  invalid,
  type JsonObject,
  type Noun,
  Problem,
  type Verb,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { migrated } from '../engine/migrations.ts'
import { asSteps, type Steps, type Stepwise, toEnd } from '../engine/turns.ts'
import { INTERNAL_TYPES } from '../engine/types.ts'
import { isNarrowed } from '../grant/grant.ts'
import { isId } from '../ids.ts'
import { asOfSeq } from '../query/parameters/parameters.ts'
import { type Current, currentOf, exists, insertEntity, supersede } from '../store/entities.ts'
import { fieldIndexChanges, writeFieldIndex } from '../store/field-index.ts'
import { hasEntry, readEntry } from '../store/log/log.ts'
import { seqsOf, stateAt } from '../store/log/versions.ts'
import { askBeforeHooks } from './before-hooks.ts'
import { dependantsOf, withComputed } from './compute.ts'
import { completeFiles, demandOwnFiles, noteFiles } from './files.ts'
import { MissingReferences, missingReferences } from './references.ts'
import { keptSource } from './source.ts'
import { argumentsText, changes, checkTransition, guardStart, guardState, merge, settings, textOf } from './state.ts'
import type { VerbRequest, VerbResult } from './verb-request.ts'
import type { Write } from './write.ts'

/** Runs a verb for any caller: BEFORE, execute, its event. AFTER follows once the event is durable. */
export function applyVerb(given: Write, request: VerbRequest): VerbResult {
  const noun = INTERNAL_TYPES.get(request.type) ?? given.engine.noun(request.type)
  const verb = request.internalVerb ?? verbOf(noun, request.verb)
  const write = withoutQuota(given, noun.name, verb.name)
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

/** Verbs that end what writes for a tenant: one without room must be able to stop it. */
const ENDINGS: ReadonlySet<string> = new Set(['ApiKey.revoke', 'User.suspend', 'Workflow.pause', 'Workflow.archive'])

/** The write as a verb has it that frees space, or ends what uses it: all that it leads to has room. */
function withoutQuota(write: Write, type: string, verb: string): Write {
  if (write.engine.options.mostBytes === undefined || write.context.ignoresQuota) return write
  return verb === 'delete' || ENDINGS.has(`${type}.${verb}`) ? write.within({ ignoresQuota: true }) : write
}

function create(write: Write, noun: Noun, verb: Verb, request: VerbRequest): VerbResult {
  const { sql, engine } = write
  const now = write.now()
  const given = askBeforeHooks(write, noun, verb, objectOf(noun, request.data), null, isInternal(request))
  const checked = checkDraft(noun, given, now, request)
  const serviceFields = request.keepSource ? keptSource(write, noun, request) : request.serviceFields
  const files = completeFiles(write, noun, checked.data, request)
  const draft = serviceFields ? { ...files.data, ...serviceFields } : files.data
  const issues = files.issues.length > 0 ? [...checked.issues, ...files.issues] : checked.issues
  refuse(
    noun,
    serviceFields ? issues.filter(({ field }) => !Object.hasOwn(serviceFields, field)) : issues,
    missingReferences(write, noun, draft, request),
  )
  if (!write.context.past) guardStart(noun, draft)
  const id = keptId(write, noun, request) ?? write.newId(noun.prefix)
  const data = withComputed(write, noun, id, derived(write, noun, id, draft, null, draft))
  noteFiles(write, noun, id, files.hashes)
  const text = textOf(noun, data)
  const createdBy = write.grant.actor
  const head = { id, type: noun.name, version: 1, createdAt: now, createdBy, updatedAt: now, data: text }
  if (noun.storage === 'log') {
    // A tracked event is the log record itself: one row, no entity next to it.
    const event = write.append(verb, { ...head, ordinal: 0 }, { previous: null, id })
    return { entity: { ...head, ordinal: event.seq }, event }
  }
  const seq = engine.head.seq + 1
  const entity = { ...head, ordinal: seq, seq, deleted: false }
  const indexed = fieldIndexChanges(sql, noun, engine.indexed(noun), seq, null, data, !isNarrowed(write.grant))
  insertEntity(sql, entity)
  writeFieldIndex(sql, indexed, seq, seq)
  return settled(write, noun, null, data, { entity, event: write.append(verb, entity, { previous: null }) })
}

function change(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  const now = write.now()
  const state = JSON.parse(current.data) as JsonObject
  // The states of an imported past are checked, not the way to them.
  const isPast = write.context.past != null
  if (!isPast) checkTransition(noun, verb, state)
  const asked = askBeforeHooks(
    write,
    noun,
    verb,
    objectOf(noun, request.data === undefined ? {} : request.data),
    current,
    isInternal(request),
  )
  const keeps = verb.keeps === 'event'
  const checked = keeps ? checkArguments(asked) : checkPatch(noun, asked, now, request)
  const set = isPast
    ? NOTHING_SET
    : settings(noun, verb, state, { ...asked, ...checked.data }, now, write.extensions.compute)
  const given = { ...(!keeps && checked.data), ...set.data }
  const files = completeFiles(write, noun, given, request, state)
  const changed = { ...files.data, ...request.serviceFields }
  if (!keeps && !isPast) guardState(noun, verb, state, checked.data)
  const issues = [...checked.issues, ...set.issues, ...files.issues]
  refuse(noun, issues, missingReferences(write, noun, changed, request, state))
  noteFiles(write, noun, current.id, files.hashes)
  const to = derived(write, noun, current.id, merge(state, changed), state, changed)
  const args = keeps ? checked.data : complete(noun, checked.data, files.data)
  return writeState(write, noun, verb, current, state, to, argumentsText(noun, args), now)
}

/** The arguments of a verb, with complete files. */
function complete({ fields }: Noun, args: JsonObject, files: JsonObject): JsonObject {
  const isFile = (name: string) => Object.hasOwn(fields, name) && fields[name]!.kind === 'file'
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, isFile(name) ? files[name]! : value]))
}

const NOTHING_SET = { data: {}, issues: [] }

/** A verb of the service itself, which no client can name. */
function isInternal({ internalVerb }: VerbRequest): boolean {
  return internalVerb !== undefined
}

function derived(
  write: Write,
  { name }: Noun,
  id: string,
  state: JsonObject,
  before: JsonObject | null,
  given: JsonObject,
): JsonObject {
  const derive = write.extensions.derive[name]
  return derive ? derive({ write, id, state, before, given }) : state
}

function rollback(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  const args = askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current, isInternal(request))
  const seq = rollbackSeq(write.engine, noun, current, args)
  const past = stateAt(write.sql, current, seq)
  if (!past) {
    throw new Problem('not_found', `This ${noun.name} did not exist at that time.`, {
      type: noun.name,
      id: current.id,
      field: 'asOf',
    })
  }
  const to = migrated(write.engine, noun, seq, JSON.parse(past.data))
  demandOwnFiles(write, noun, current.id, to)
  return writeState(write, noun, verb, current, JSON.parse(current.data), to, argumentsText(noun, args))
}

function remove(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current, isInternal(request))
  const after = next(write, current, { deleted: true })
  const state = JSON.parse(current.data)
  replace(write, noun, current, after, state, null)
  const event = write.append(verb, after, { previous: null, replaced: current })
  return settled(write, noun, state, null, { entity: after, event })
}

function restore(write: Write, noun: Noun, verb: Verb, request: VerbRequest, current: Current): VerbResult {
  if (!current.deleted) {
    throw new Problem('invalid_transition', `This ${noun.name} is not deleted; there is nothing to restore.`, {
      type: noun.name,
      id: current.id,
    })
  }
  if (readEntry(write.sql, current.seq)?.data === null) throw notFound(noun.name, current.id)
  askBeforeHooks(write, noun, verb, objectOf(noun, request.data ?? {}), current, isInternal(request))
  const before = JSON.parse(current.data) as JsonObject
  const state = withComputed(write, noun, current.id, migrated(write.engine, noun, current.seq, before))
  const after = next(write, current, { deleted: false, data: state === before ? current.data : textOf(noun, state) })
  replace(write, noun, current, after, null, state)
  const event = write.append(verb, after, { previous: changes(before, state) ?? {}, replaced: current })
  return settled(write, noun, null, state, { entity: after, event })
}

/** Writes the next state of an entity. An update that changes nothing keeps the version and emits nothing. */
export function writeState(
  write: Write,
  noun: Noun,
  verb: Verb,
  current: Current,
  from: JsonObject,
  given: JsonObject,
  args: string | null,
  now = write.now(),
): VerbResult {
  // A change works out again what it touches; a rollback and what follows from other entities, everything.
  const to = withComputed(write, noun, current.id, given, verb.name === 'rollback' || verb === COMPUTE ? null : from)
  const previous = changes(from, to)
  // Each change of an imported past is an event, so that it is known when it is sent again.
  const isQuiet = verb.event === 'updated' && !(write.context.past && verb !== COMPUTE)
  if (previous === null && isQuiet) return { entity: current, event: null }
  // What `$now` set is the time of the event, unless something was written in between.
  const updatedAt = write.context.past ? now : Math.max(now, write.engine.head.at)
  const after = { ...next(write, current, { data: textOf(noun, to) }), updatedAt }
  replace(write, noun, current, after, from, previous ? to : from)
  const event = write.append(verb, after, { previous: previous ?? {}, replaced: current, args })
  return settled(write, noun, from, to, { entity: after, event })
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

/** The verb by which computed fields follow a change of other entities. */
const COMPUTE: Verb = { name: 'compute', before: '', event: 'updated' }

/** Lets the computed fields of other entities follow a change, in the same transaction. */
function settled(
  write: Write,
  noun: Noun,
  before: JsonObject | null,
  after: JsonObject | null,
  result: VerbResult,
): VerbResult {
  const { id } = result.entity
  const touched = dependantsOf(write, noun, id, before, after)
  if (touched === null) return result
  recompute(write, touched)
  // An entity may be related to itself.
  const isOwn = after !== null && touched.get(noun.name)?.has(id)
  return isOwn ? { ...result, entity: currentOf(write.sql, noun.name, id)! } : result
}

/** Works out the computed fields of entities again, or notes that it is to be done at the end of the work in progress. */
function recompute(write: Write, touched: ReadonlyMap<string, ReadonlySet<string>>): void {
  const { toCompute } = write.context
  if (toCompute === null) toEnd(recomputing(write, touched))
  else note(toCompute, touched)
}

function note(toCompute: Map<string, Set<string>>, touched: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [type, ids] of touched) {
    const known = toCompute.get(type) ?? new Set()
    for (const id of ids) known.add(id)
    toCompute.set(type, known)
  }
}

/** Works out the computed fields of entities again, now. */
export function* recomputing(write: Write, touched: ReadonlyMap<string, ReadonlySet<string>>): Steps<void> {
  const following = unlimitedWrite(write)
  for (const [type, ids] of touched) {
    for (const id of ids) {
      write.context.budget.checkTime()
      if (exists(write.sql, type, id)) applyVerb(following, { type, verb: COMPUTE.name, internalVerb: COMPUTE, id })
      yield
    }
  }
}

/** The same write without the limits of an agent: computed fields follow what the agent was allowed to write. */
function unlimitedWrite(write: Write): Write {
  const { limits, ...grant } = write.grant
  return limits === undefined ? write : write.as(grant)
}

/** Runs work of many changes, and lets computed fields follow once at its end instead of after each. */
export function* computingOnce<T>(write: Write, work: (write: Write) => Stepwise<T>): Steps<T> {
  const outer = write.context.toCompute
  const toCompute = outer ?? new Map<string, Set<string>>()
  const result = yield* asSteps(work(outer ? write : write.within({ toCompute })))
  if (outer === null) yield* recomputeAll(write, toCompute)
  return result
}

/** Works out what was noted. What follows from that is noted in turn, so that no step leads to many others. */
function* recomputeAll(write: Write, noted: Map<string, Set<string>>): Steps<void> {
  while (noted.size > 0) {
    const next = new Map(noted)
    noted.clear()
    yield* recomputing(write.within({ toCompute: noted }), next)
  }
}

function next(write: Write, current: Current, changed: Partial<Current>): Current {
  const seq = write.engine.head.seq + 1
  return { ...current, ...changed, seq, version: current.version + 1, updatedAt: write.now() }
}

/** The verb of that name, or a problem that names those there are. */
export function verbOf(noun: Noun, name: string): Verb {
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

/** The id that a draft brings along, where that is allowed. */
function keptId({ sql }: Write, noun: Noun, { keepId, data }: VerbRequest): string | null {
  const id = keepId ? (data as JsonObject).$id : undefined
  const isWellFormed = isId(id, noun.prefix) || (typeof id === 'string' && INTERNAL_TYPES.get(noun.name) !== undefined)
  if (!isWellFormed) return null
  const isTaken = noun.storage === 'log' ? hasEntry(sql, id) : currentOf(sql, noun.name, id) !== undefined
  if (isTaken) {
    throw new Problem('conflict', `The ${noun.name} ${id} already exists.`, { type: noun.name, id, field: '$id' })
  }
  return id
}

/** The seq that `{asOf}` or `{version}` of a rollback means. */
function rollbackSeq(engine: Engine, noun: Noun, current: Current, args: JsonObject): number {
  if (args.version !== undefined) return seqOfVersion(engine, noun, current, args.version)
  if (args.asOf !== undefined) return asOfSeq(engine, args.asOf, noun.name)
  throw new Problem('invalid_as_of', 'The rollback needs asOf, such as 2026-01-31T12:00:00Z or 7d ago, or a version.', {
    type: noun.name,
    field: 'asOf',
  })
}

function seqOfVersion({ sql }: Engine, noun: Noun, current: Current, version: unknown): number {
  const seq = seqsOf(sql, current.ordinal).find((seq) => readEntry(sql, seq)?.version === version)
  if (seq !== undefined) return seq
  throw new Problem('not_found', `This ${noun.name} has no version ${version}.`, {
    type: noun.name,
    id: current.id,
    field: 'version',
  })
}
