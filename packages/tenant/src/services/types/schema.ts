import {
  type BackField,
  checkRelations,
  computedFields,
  type Field,
  type ForwardField,
  isPlainObject,
  type JsonObject,
  type Noun,
  type Nouns,
  Problem,
  sameJson,
} from '@tildebase/nouns'
import { storeParts } from '../../authorship/parts.ts'
import { changes, demandReach, type Reach, readsAll } from '../../authorship/reach.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Steps } from '../../engine/turns.ts'
import { declareType, INTERNAL_TYPES } from '../../engine/types.ts'
import { demandArea, type Grant, isNarrowed, may } from '../../grant/grant.ts'
import { isServiceType } from '../../grant/scopes.ts'
import { currentOf, liveCount, liveEntities } from '../../store/entities.ts'
import { dropFields, ownTypes, rebuildFieldIndex } from '../../store/schema.ts'
import { applyVerb, recomputing } from '../../write/verb.ts'
import type { VerbResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'
import { declareTimers } from '../timers/schedule.ts'

/** Types whose meaning is the service's own, and names that mean something else already. */
const FIXED = new Set(['ApiKey', 'Webhook', 'Event', 'Changeset'])
const PAGE = 100
/** Types of a tenant's own, and the characters of all their declarations: each change of one of them reads all. */
const MOST_TYPES = 500
const MOST_DECLARED = 2_000_000
const RESERVED = new Set([...INTERNAL_TYPES.all.map(({ name }) => name), 'Status', 'Batch', 'Operator', 'Ask'])

/** Declares a type of the tenant's own, or adds fields and verbs to a built-in one. */
export function* putType(
  write: Write,
  name: string,
  given: JsonObject,
  { recomputes = true }: { readonly recomputes?: boolean } = {},
): Steps<VerbResult> {
  const { engine, grant } = write
  demandArea(grant, 'admin', 'platform')
  refuseFixed(name)
  const notation = isOnlyAbout(given) ? { ...ownNotation(engine, name), ...given } : given
  demandRoom(engine, name, notation)
  const builtIn = engine.options.nouns.get(name)
  if (builtIn?.name === name) refuseMove(builtIn, notation)
  const parsed = declareType(engine.options.nouns, name, notation)
  // Next to the others, its computed fields know their kinds.
  const declared = engine.nouns.with(parsed).get(parsed.name)!
  refuseSecrets(declared)
  refuseHiddenVerbs(declared, engine.nouns.get(declared.name))
  if (builtIn?.name === name) refuseFilesForVerbs(builtIn, declared)
  demandDomains(grant, declared, engine.nouns.get(name))
  if (builtIn?.name === name) refuseServiceParts(builtIn, notation)
  demandReach(grant, 'declaration', reachOf(engine.nouns.with(parsed), declared, engine.nouns.get(name)))
  const issues = newIssues(engine.nouns, declared)
  if (issues.length > 0) {
    throw new Problem(
      'invalid_schema',
      `The type ${name} conflicts with other types. ${issues.map((i) => `${i.field}: ${i.message}`).join('; ')}`,
      {
        type: name,
        details: issues.map(({ field, message }) => ({ field, message })),
      },
    )
  }
  const before = engine.nouns.get(declared.name)
  storeParts(write, engine.nouns.with(parsed))
  const id = schemaId(declared.name)
  const current = currentOf(engine.sql, 'Schema', id)
  const data = { name: declared.name, notation }
  const result = current
    ? applyVerb(write, { type: 'Schema', verb: current.deleted ? 'restore' : 'update', id, data })
    : applyVerb(write, { type: 'Schema', verb: 'create', data: { $id: id, ...data }, keepId: true })
  if (current?.deleted) applyVerb(write, { type: 'Schema', verb: 'update', id, data })
  const namesHolders = may(grant, 'read', declared) && !isNarrowed(grant)
  if (result.event) yield* withinTime(write, rebuildFieldIndex(engine.sql, declared, before ?? null, namesHolders))
  engine.cache.forget('Schema')
  if (recomputes && computesAnew(declared, before)) yield* recomputeAll(write, declared.name)
  declareTimers(engine, declared, before)
  write.wakeAt(write.context.clock.now())
  return result
}

/** Refuses more declarations than can be read in a short time. */
function demandRoom({ sql }: Engine, name: string, notation: JsonObject): void {
  const others = ownTypes(sql).filter(([other]) => other !== name)
  const length = others.reduce((sum, [, one]) => sum + JSON.stringify(one).length, JSON.stringify(notation).length)
  if (others.length < MOST_TYPES && length <= MOST_DECLARED) return
  const message =
    others.length >= MOST_TYPES
      ? `A tenant can declare ${MOST_TYPES} types. Delete one.`
      : `The declarations of a tenant may have at most ${MOST_DECLARED} characters together. Delete a type.`
  throw new Problem('too_many', message, {
    type: name,
    limit: others.length >= MOST_TYPES ? MOST_TYPES : MOST_DECLARED,
  })
}

/** Whether a declaration only speaks of the type as a whole: then its fields and verbs stay. */
function isOnlyAbout(notation: JsonObject): boolean {
  const keys = Object.keys(notation)
  return keys.length > 0 && keys.every((key) => key.startsWith('$'))
}

/** What the tenant itself has declared of a type. */
export function ownNotation({ sql }: Engine, name: string): JsonObject {
  const current = currentOf(sql, 'Schema', schemaId(name))
  return current === undefined || current.deleted ? {} : JSON.parse(current.data).notation
}

/** What does not fit once a type is declared: its own all, and what it breaks in the others. */
function newIssues(nouns: Nouns, declared: Noun) {
  const known = new Set(checkRelations(nouns).map(({ field, message }) => `${field} ${message}`))
  return checkRelations(nouns.with(declared)).filter(
    ({ field, message }) => field.startsWith(`${declared.name}.`) || !known.has(`${field} ${message}`),
  )
}

/** Whether a declaration brings a computed field, or computes one otherwise. */
function computesAnew(declared: Noun, before: Noun | undefined): boolean {
  const known = new Map(before ? computedFields(before).map((field) => [field.name, field.computed]) : [])
  return computedFields(declared).some(({ name, computed }) => {
    const old = known.get(name)
    return old === undefined || !sameJson(old as JsonObject, computed as JsonObject)
  })
}

/** Works out the computed fields of every entity of a type, within the budget of the request. */
function* recomputeAll(write: Write, type: string): Steps<void> {
  const { budget, progress } = write.context
  progress.expect(() => liveCount(write.sql, type))
  for (let after = 0; ; ) {
    const page = liveEntities(write.sql, type, after, PAGE)
    budget.spendRows(page.length)
    yield* recomputing(write, new Map([[type, new Set(page.map(({ id }) => id))]]))
    progress.advance(page.length)
    if (page.length < PAGE) return
    after = page.at(-1)!.ordinal
  }
}

/** The same steps, ended when the time of the request is used up. */
function* withinTime<T>({ context }: Write, steps: Steps<T>): Steps<T> {
  for (;;) {
    context.budget.checkTime()
    const step = steps.next()
    if (step.done) return step.value
    yield
  }
}

/** Takes back a type of the tenant's own, once it has no entities; a built-in one loses what was added to it. */
export function* dropType(write: Write, name: string): Steps<void> {
  const { engine, grant } = write
  demandArea(grant, 'admin', 'platform')
  const builtIn = engine.options.nouns.get(name)
  if (!builtIn) demandDomains(grant, engine.noun(name), undefined)
  const count = liveCount(engine.sql, name)
  if (!builtIn && count > 0) {
    const some = count === 1 ? 'is 1 entity' : `are ${count} entities`
    throw new Problem('conflict', `There ${some} of type ${name}. Delete them first.`, { type: name })
  }
  if (builtIn) storeParts(write, engine.nouns.with(builtIn))
  if (currentOf(engine.sql, 'Schema', schemaId(name))?.deleted !== false)
    throw new Problem('not_found', `This tenant has added nothing to ${name}, so there is nothing to delete.`, {
      type: name,
    })
  applyVerb(write, { type: 'Schema', verb: 'delete', id: schemaId(name) })
  if (builtIn) yield* withinTime(write, rebuildFieldIndex(engine.sql, builtIn, engine.nouns.get(name) ?? null))
  else dropFields(engine.sql, name)
  engine.cache.forget('Schema')
}

/** The domain and the path of a built-in type decide which keys may read it, and where. */
function refuseMove({ name, domain, path }: Noun, { $domain = domain, $path = path }: JsonObject): void {
  const moved = [
    ...($domain === domain ? [] : [{ field: '$domain', message: `must stay ${domain}, because ${name} is built in` }]),
    ...($path === path ? [] : [{ field: '$path', message: `must stay ${path}, because ${name} is built in` }]),
  ]
  if (moved.length === 0) return
  throw new Problem(
    'invalid_schema',
    `The type ${name} is not valid. ${moved.map((i) => `${i.field}: ${i.message}`).join('; ')}`,
    {
      type: name,
      details: moved,
    },
  )
}

/** A key that moves a type into or out of a domain must administer that domain; `custom` belongs to the platform. */
function demandDomains(grant: Grant, after: Noun, before: Noun | undefined): void {
  const domains = before?.domain === after.domain ? [] : [after.domain, ...(before ? [before.domain] : [])]
  for (const domain of domains) if (domain !== 'custom') demandArea(grant, 'admin', domain)
}

/**
 * What a declaration touches at once: the types behind its new relations, which stored filters may follow, and the values
 * of a field that becomes unique, and all rows of a type whose verbs or guards change: other callers run them. What its timers and computed fields reach is checked with their author.
 */
function reachOf(nouns: Nouns, after: Noun, before: Noun | undefined): Reach[] {
  const isNew = (field: Field) => !sameJson((before?.fields[field.name] ?? null) as never, field as never)
  const related = Object.values(after.fields).filter((field) => isRelation(field) && isNew(field))
  const targets = new Set(related.flatMap((field) => targetsOf(field as ForwardField | BackField)))
  targets.delete(after.name)
  const uniqueIn = (noun: Noun) =>
    JSON.stringify([
      ...Object.values(noun.fields).flatMap((field) =>
        'index' in field && field.index === 'unique' ? field.name : [],
      ),
      ...noun.unique,
    ])
  return [
    ...[...targets].flatMap((target) => nouns.get(target) ?? []).map(readsAll),
    ...(before && uniqueIn(before) !== uniqueIn(after) ? [readsAll(after)] : []),
    ...(before && actsOf(before) !== actsOf(after) ? [changes(after, true)] : []),
  ]
}

/** What decides about the changes that verbs make, and about those that are refused. */
function actsOf({ verbs, guarded, start }: Noun): string {
  return JSON.stringify([verbs, guarded, start])
}

function targetsOf(field: ForwardField | BackField): readonly string[] {
  return field.kind === 'forward' && field.targets ? field.targets : [field.target]
}

function isRelation(field: Field): field is ForwardField | BackField {
  return field.kind === 'forward' || field.kind === 'back'
}

/** What the service's own types mean is not for a tenant to change: their verbs run with the rights of other callers. */
function refuseServiceParts(builtIn: Noun, notation: JsonObject): void {
  if (!isServiceType(builtIn.name)) return
  const taken = Object.keys(notation).filter(
    (name) => Object.hasOwn(builtIn.fields, name) || Object.hasOwn(builtIn.verbs, name),
  )
  const setting = Object.entries(notation).filter(([, part]) => {
    const set = isPlainObject(part) && isPlainObject(part.set) ? Object.keys(part.set) : []
    return set.some((field) => Object.hasOwn(builtIn.fields, field))
  })
  const details = [
    ...taken.map((field) => ({ field, message: 'is built in and cannot be declared again' })),
    ...setting.map(([field]) => ({ field, message: `cannot set a built-in field of ${builtIn.name}` })),
  ]
  if (details.length === 0) return
  throw new Problem(
    'invalid_schema',
    `The type ${builtIn.name} is not valid. ${details.map((i) => `${i.field}: ${i.message}`).join('; ')}`,
    { type: builtIn.name, details },
  )
}

function refuseFixed(name: string): void {
  if (FIXED.has(name))
    throw new Problem('invalid_schema', `${name} cannot be changed, because the service depends on it.`, { type: name })
  if (RESERVED.has(name))
    throw new Problem('invalid_schema', `The name ${name} is reserved for the service.`, { type: name })
}

/** Secrets are kept aside by services that know what they open; an entity would show them. */
function refuseSecrets({ name, fields }: Noun): void {
  const secret = Object.values(fields).find((field) => field.kind === 'secret')
  if (!secret) return
  const message = 'is a secret, which only built-in types can have; store a hash, or store it elsewhere'
  throw new Problem('invalid_schema', `The type ${name} is not valid. ${secret.name}: ${message}`, {
    type: name,
    details: [{ field: secret.name, message }],
  })
}

/** Paths of every entity, and what clients and code call to read: a verb of such a name would be something else there. */
const HIDING = [
  'history',
  'diff',
  'timers',
  'erase',
  'find',
  'findOne',
  'findPage',
  'get',
  'count',
  'aggregate',
  'then',
]

/** Refuses such verbs, unless the type has them from a time when they were allowed. */
function refuseHiddenVerbs({ name, verbs }: Noun, before: Noun | undefined): void {
  const hidden = HIDING.filter((verb) => Object.hasOwn(verbs, verb) && !Object.hasOwn(before?.verbs ?? {}, verb))
  if (hidden.length === 0) return
  const details = hidden.map((field) => ({
    field,
    message: 'has another meaning for every type, so it cannot be a verb',
  }))
  const list = details.map(({ field, message }) => `${field}: ${message}`).join('; ')
  throw new Problem('invalid_schema', `The type ${name} is not valid. ${list}`, { type: name, details })
}

/** The content of a file field is at the path that a verb of this name has. */
function refuseFilesForVerbs({ verbs }: Noun, { name, fields }: Noun): void {
  const taken = Object.values(fields).find((field) => field.kind === 'file' && Object.hasOwn(verbs, field.name))
  if (!taken) return
  const message = 'is the name of a verb, so it cannot be a file'
  throw new Problem('invalid_schema', `The type ${name} is not valid. ${taken.name}: ${message}`, {
    type: name,
    details: [{ field: taken.name, message }],
  })
}

export function schemaId(name: string): string {
  return `schema_${name}`
}
