import {
  type Filter,
  isPlainObject,
  META_FIELDS,
  type Noun,
  nearest,
  Problem,
  quoted,
  resolvePath,
  type Verb,
} from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, isNarrowed, may } from '../../grant/grant.ts'
import { find } from '../answer/find.ts'
import { readContextOf } from '../read-context.ts'

/** A name that is neither declared nor stored in any entity, and the declared one that looks most like it. */
export interface UnknownField {
  readonly field: string
  readonly nearest: string | null
}

/** Warnings of one answer at most. */
export const MOST_UNKNOWN = 20

/** What the service takes in addition to the fields of a type. */
const BESIDE: { readonly [type: string]: readonly string[] } = {
  Webhook: ['secret', 'redirect'],
  ApiKey: ['secret'],
}

/** What the search for all names of a request may use. It is a courtesy: no request becomes slow by it. */
const LIMITS = { ms: 40, rows: 200_000, bytes: 1_048_576 }

/** The budget of a search for unknown names. Its time is that of the thread: a busy machine does not end it early. */
export function searchBudget(cpu: () => number): Budget {
  return new Budget(LIMITS, cpu)
}

/** How names are looked for. */
interface Search {
  readonly budget: Budget
  /** With it, a search that the budget does not suffice for is a Problem. */
  readonly isStrict?: boolean
  /** The seq of the moment that is asked about: a name of the past, such as one before a rename, is known there. */
  readonly asOf?: number | null
}

/**
 * What a path ends at, if its type neither declares nor holds such a field; null when it is known, or when the budget does
 * not suffice to find that out.
 */
export function unknownField(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  text: string,
  search: Search,
): UnknownField | null {
  // Also the time to find what a name looks like counts: there may be many names, and many fields.
  const look = () => search.budget.time(() => sought(engine, grant, noun, text, search))
  if (search.isStrict) return look()
  if (search.budget.msLeft <= 0) return null
  try {
    return look()
  } catch (reason) {
    if (reason instanceof Problem && reason.code === 'over_budget') return null
    throw reason
  }
}

function sought(engine: Engine, grant: Grant, noun: Noun, text: string, search: Search): UnknownField | null {
  const path = resolvePath(text, noun, engine.nouns)
  if ('fault' in path || path.field.startsWith('$')) return null
  const last = path.hops.at(-1)
  const owner = last ? engine.noun(last.target) : noun
  if (Object.hasOwn(owner.fields, path.field) || !may(grant, 'read', owner)) return null
  if (isStored(engine, grant, owner, path.field, search.budget)) return null
  const { asOf = null } = search
  if (asOf !== null && isFound(engine, grant, owner, path.field, search.budget, asOf)) return null
  const [near] = nearest(path.field, [...Object.keys(owner.fields), ...Object.keys(META_FIELDS)], 1)
  const before = path.hops.map(({ field }) => `${field}.`).join('')
  return { field: quoted(text), nearest: near === undefined ? null : `${before}${near}` }
}

/** The names that a filter asks for. What cannot be read is refused where it is run. */
export function* filterNames(filter: unknown): Generator<string> {
  if (Array.isArray(filter)) for (const part of filter) yield* filterNames(part)
  if (!isPlainObject(filter)) return
  for (const [key, value] of Object.entries(filter)) {
    if (key === '$and' || key === '$or') yield* filterNames(value)
    else if (!key.startsWith('$')) yield key
  }
}

/** The names that a sort asks for. */
export function* sortNames(sort: unknown): Generator<string> {
  if (isPlainObject(sort)) yield* Object.keys(sort)
  else if (typeof sort === 'string') for (const name of listedNames(sort)) yield name.replace(/^[+-]/, '')
}

/** The names of a draft, a patch or arguments that the type does not declare. A verb may take more than fields. */
export function bodyNames(noun: Noun, verb: Verb | undefined, body: unknown): readonly string[] {
  if (!isPlainObject(body) || verb?.name === 'rollback' || verb?.keeps) return []
  return Object.keys(body).filter((name) => {
    const isKnown = Object.hasOwn(noun.fields, name) || Object.hasOwn(META_FIELDS, name) || name.startsWith('$')
    return !isKnown && !verb?.args?.includes(name) && !BESIDE[noun.name]?.includes(name)
  })
}

/** The members of a part of a request that its form does not have. With `isStrict` they are refused. */
export function unknownMembers(
  part: unknown,
  known: readonly string[],
  { isStrict = false, place = '' } = {},
): UnknownField[] {
  const names = isPlainObject(part) ? Object.keys(part).filter((name) => !known.includes(name)) : []
  const unknown = names.slice(0, MOST_UNKNOWN).map((name) => ({
    field: quoted(`${place}${name}`),
    nearest: nearest(name, known, 1)[0] ?? null,
  }))
  if (!isStrict || unknown.length === 0) return unknown
  const details = unknown.map(({ field, nearest: near }) => ({
    field,
    message: `is not known here${near === null ? '' : `; did you mean ${near}?`}`,
  }))
  const list = details.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new Problem('invalid_body', `With strict, only known names are allowed. ${list}`, {
    field: unknown[0]!.field,
    details,
  })
}

/** `name, email` or `['name', 'email']` → each. The handler refuses anything else. */
export function listedNames(given: unknown): string[] {
  const names = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given.map(String) : []
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

/** Names that were found once. They are not looked for again, though their last entity may be gone by now. */
const found = new WeakMap<Engine, BoundedMap<string, true>>()
const MOST_FOUND = 10_000

/** Whether some entity of a type that the grant sees has a field of this name. */
function isStored(engine: Engine, grant: Grant, noun: Noun, name: string, budget: Budget): boolean {
  if (isNarrowed(grant)) return isFound(engine, grant, noun, name, budget)
  const known = found.get(engine) ?? new BoundedMap<string, true>(MOST_FOUND)
  found.set(engine, known)
  const key = `${noun.name}.${name}`
  if (known.has(key)) return true
  const there = engine.cache.get([noun.name], `stored ${key}`, () => isFound(engine, grant, noun, name, budget))
  if (there) known.set(key, true)
  return there
}

function isFound(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  name: string,
  budget: Budget,
  asOf: number | null = null,
): boolean {
  const path = { text: name, hops: [], field: name, into: [] }
  const filter: Filter = { op: 'exists', path, value: true }
  const reader = readContextOf(engine, grant, budget)
  return budget.time(() => find(reader, { type: noun.name, filter, limit: 1, total: false, asOf })).results.length > 0
}
