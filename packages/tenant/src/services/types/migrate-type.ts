import {
  type Converted,
  catalogue,
  convert,
  didYouMean,
  type Field,
  type ForwardField,
  isComputed,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  renameField,
  renameInNotation,
  targetText,
  type ValueField,
  type Verb,
} from '@tildebase/nouns'
import { changes, demandReach } from '../../authorship/reach.ts'
import { type Migration, migrationsOf } from '../../engine/migrations.ts'
import type { Steps } from '../../engine/turns.ts'
import { demandArea } from '../../grant/grant.ts'
import { currentOf, liveCount, liveEntities } from '../../store/entities.ts'
import { areOwnFiles } from '../../write/files.ts'
import { isThere } from '../../write/references.ts'
import { applyVerb, writeState } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { renameInStored } from './rename-stored.ts'
import { demandNoRowFilter } from './row-filters.ts'
import { ownNotation, putType, schemaId } from './schema.ts'

/** The verb that brings stored entities into the new form of their type. */
const MIGRATE: Verb = { name: 'migrate', before: '', event: 'updated' }
const PAGE = 100
const MOST_TOLD = 100

/** An entity that a migration cannot convert, and why. Its value is not shown. */
interface Misfit {
  readonly id: string
  readonly field: string
  readonly message: string
}

/** Renames a field of the tenant's own in its type and in every entity. Returns the number of changed entities. */
export function* renameTypeField(write: Write, type: Noun, from: string, to: string): Steps<number> {
  const { engine } = write
  demandMigration(write, type)
  demandNoRowFilter(engine, type, from)
  const notation = ownNotation(engine, type.name)
  if (!Object.hasOwn(type.fields, from) && Object.hasOwn(type.fields, to))
    return yield* adoptField(write, type, from, to)
  if (typeof notation[from] !== 'string') throw noField(write, type, from, notation)
  if (Object.hasOwn(type.fields, to) || Object.hasOwn(type.verbs, to)) {
    throw invalidSchema(type, to, `${type.name} has ${to} already`)
  }
  const { nouns } = engine
  yield* putType(write, type.name, renameInNotation(notation, from, to), { recomputes: false })
  // Before the entities: their events are judged by filters with the new name.
  yield* renameInStored(write, { nouns, type: type.name, from, to })
  const misfits: Misfit[] = []
  const changed = yield* migrate(write, type.name, (id, state) => {
    if (!Object.hasOwn(state, from)) return state
    if (Object.hasOwn(state, to)) {
      misfits.push({ id, field: to, message: `already has a value in ${to}, which is not declared` })
      return state
    }
    return renameField(state, from, to)
  })
  refuse(type, `renamed to ${to}`, misfits)
  keep(write, type.name, { from, to })
  return changed
}

/**
 * Moves the values of a field that is not declared any more into the one that has replaced it: the declaration was changed
 * first, in code. All values must fit it.
 */
function* adoptField(write: Write, type: Noun, from: string, to: string): Steps<number> {
  const field = type.fields[to]!
  if (!holdsValues(field)) throw invalidSchema(type, to, 'is computed or an inverse relation, which stores no values')
  yield* renameInStored(write, { nouns: write.engine.nouns, type: type.name, from, to })
  const misfits: Misfit[] = []
  const changed = yield* migrate(write, type.name, (id, state) => {
    if (!Object.hasOwn(state, from)) return state
    const result = converted(write, id, field, state[from] ?? null)
    if ('fault' in result) misfits.push({ id, field: from, message: result.fault })
    else if ((state[to] ?? null) !== null) misfits.push({ id, field: to, message: `already has a value in ${to}` })
    else return { ...without(state, from), ...(result.value !== null && { [to]: result.value }) }
    return state
  })
  refuse(type, `renamed to ${to}`, misfits)
  if (changed === 0) throw noField(write, type, from, ownNotation(write.engine, type.name))
  yield* putType(write, type.name, ownNotation(write.engine, type.name), { recomputes: false })
  keep(write, type.name, { from, to }, { retyped: to })
  return changed
}

/** A stored value as another field can hold it, or why it cannot. */
function converted(write: Write, id: string, field: ValueField | ForwardField, value: Json): Converted {
  const result = value === null ? { value } : convert(field, value)
  if ('fault' in result || result.value === null) return result
  if (field.kind === 'forward' && !areThere(write, field, result.value))
    return { fault: `is not the id of a ${targetText(field)}` }
  if (field.kind === 'file' && !areOwnFiles(write, id, result.value)) return { fault: 'is not a file' }
  return result
}

/** Changes the kind of a field and converts the stored values. All values must convert. Returns the number of changed entities. */
export function* retypeTypeField(write: Write, type: Noun, name: string, to: string): Steps<number> {
  const { engine } = write
  demandMigration(write, type)
  const before = Object.hasOwn(type.fields, name) ? type.fields[name]! : null
  if (before === null) throw noField(write, type, name, type.notation)
  demandNoRowFilter(engine, type, name)
  // Where the operator's code declares it so already, only what is stored is left to convert.
  const isDeclared = engine.options.nouns.get(type.name)?.notation[name] === to
  const own = ownNotation(engine, type.name)
  yield* putType(write, type.name, isDeclared ? without(own, name) : { ...own, [name]: to }, { recomputes: false })
  const field = engine.noun(type.name).fields[name]!
  if (!holdsValues(before) || !holdsValues(field)) {
    throw invalidSchema(type, name, 'is computed or an inverse relation, which stores no values; declare it with PUT')
  }
  const misfits: Misfit[] = []
  const changed = yield* migrate(write, type.name, (id, state) => {
    const fallback = 'default' in field && field.default !== 'now' ? (field.default ?? null) : null
    const result = converted(write, id, field, state[name] ?? (field.required ? fallback : null))
    if ('fault' in result) misfits.push({ id, field: name, message: result.fault })
    else if (result.value === null && field.required) misfits.push({ id, field: name, message: 'is required' })
    else return result.value === null ? without(state, name) : { ...state, [name]: result.value }
    return state
  })
  refuse(type, `converted to ${to}`, misfits)
  keep(write, type.name, { retyped: name })
  return changed
}

/** A migration reads and writes every entity of the type: the caller must be able to do so itself. */
function demandMigration({ grant }: Write, type: Noun): void {
  demandArea(grant, 'admin', 'platform')
  demandReach(grant, 'migration', [changes(type, true)])
}

/** Writes the next version of every entity that `change` changes, in the order of creation, within the budget. */
function* migrate(write: Write, type: string, change: (id: string, state: JsonObject) => JsonObject): Steps<number> {
  const { budget, progress } = write.context
  progress.expect(() => liveCount(write.sql, type))
  const noun = write.engine.noun(type)
  let changed = 0
  for (let after = 0; ; ) {
    const page = liveEntities(write.sql, type, after, PAGE)
    budget.spendRows(page.length)
    for (const current of page) {
      budget.checkTime()
      const state = JSON.parse(current.data) as JsonObject
      const next = change(current.id, state)
      if (next === state) continue
      // A change of an earlier entity may have led to a new version of this one.
      const newest = currentOf(write.sql, type, current.id)!
      const isNewer = newest.seq !== current.seq
      const from = isNewer ? (JSON.parse(newest.data) as JsonObject) : state
      const { event } = writeState(write, noun, MIGRATE, newest, from, isNewer ? change(current.id, from) : next, null)
      if (event) changed++
      yield
    }
    progress.advance(page.length)
    yield
    if (page.length < PAGE) return changed
    after = page.at(-1)!.ordinal
  }
}

/** Notes what a migration did next to the notation, for what comes back from before it. */
function keep(write: Write, type: string, ...done: ({ from: string; to: string } | { retyped: string })[]): void {
  const { engine } = write
  const { seq } = engine.head
  const migrations: readonly Migration[] = [
    ...migrationsOf(engine, type),
    ...done.map((migration) => ({ seq, ...migration })),
  ]
  const data = { migrations: migrations as unknown as Json }
  applyVerb(write, { type: 'Schema', verb: 'update', id: schemaId(type), data })
}

function refuse(type: Noun, what: string, misfits: readonly Misfit[]): void {
  if (misfits.length === 0) return
  const [first] = misfits
  const others = misfits.length > 1 ? ` and ${misfits.length - 1} more` : ''
  throw new Problem(
    'validation_error',
    `Nothing was changed: ${first!.id}${others} cannot be ${what}. ${first!.field}: ${first!.message}`,
    { type: type.name, field: first!.field, failed: misfits.length, details: misfits.slice(0, MOST_TOLD) },
  )
}

function noField({ engine }: Write, type: Noun, name: string, notation: JsonObject): Problem {
  const own = Object.keys(notation).filter((key) => typeof notation[key] === 'string' && !key.startsWith('$'))
  const isBuiltIn = Object.hasOwn(catalogue, type.name)
  const isOperators = !isBuiltIn && engine.options.nouns.get(type.name) !== undefined
  const message = Object.hasOwn(type.fields, name)
    ? isOperators
      ? "is a field of the operator's type: rename it in --config first, then rename what is stored"
      : 'is a field of the built-in type and cannot be renamed'
    : `is not a field of ${type.name}${didYouMean(name, own)}`
  return invalidSchema(type, name, message)
}

function invalidSchema({ name }: Noun, field: string, message: string): Problem {
  return new Problem('invalid_schema', `The type ${name} is not valid. ${field}: ${message}`, {
    type: name,
    field,
    details: [{ field, message }],
  })
}

function holdsValues(field: Field): field is Exclude<Field, { kind: 'back' }> {
  return field.kind !== 'back' && !isComputed(field)
}

function areThere({ sql, engine }: Write, field: ForwardField, value: Json): boolean {
  const ids = Array.isArray(value) ? value : [value]
  return ids.every((id) => id === null || isThere(sql, field, String(id), engine.nouns))
}

function without(state: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = state
  return rest
}
