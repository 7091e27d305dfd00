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

/** What a path ends at, if its type neither declares nor holds such a field; null when it is known. */
export function unknownField(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  text: string,
  timer: () => number,
): UnknownField | null {
  const path = resolvePath(text, noun, engine.nouns)
  if ('fault' in path || path.field.startsWith('$')) return null
  const last = path.hops.at(-1)
  const owner = last ? engine.noun(last.target) : noun
  if (Object.hasOwn(owner.fields, path.field) || !may(grant, 'read', owner)) return null
  if (isStored(engine, grant, owner, path.field, timer)) return null
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

/** `name, email` → each. */
export function listedNames(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** What the search for one name may use. It is a courtesy: a request must not become slow by it. */
const LIMITS = { ms: 250, rows: 200_000, bytes: 1_048_576 }

/** Names that were found once. They are not looked for again, though their last entity may be gone by now. */
const found = new WeakMap<Engine, Set<string>>()

/** Whether some entity of a type that the grant sees has a field of this name. What cannot be found out counts as yes. */
function isStored(engine: Engine, grant: Grant, noun: Noun, name: string, timer: () => number): boolean {
  if (isNarrowed(grant)) return search(engine, grant, noun, name, timer)
  const known = found.get(engine) ?? new Set<string>()
  found.set(engine, known)
  const key = `${noun.name}.${name}`
  if (known.has(key)) return true
  const there = engine.cache.get([noun.name], `stored ${key}`, () => search(engine, grant, noun, name, timer))
  if (there) known.add(key)
  return there
}

function search(engine: Engine, grant: Grant, noun: Noun, name: string, timer: () => number): boolean {
  const path = { text: name, hops: [], field: name, into: [] }
  const filter: Filter = { op: 'exists', path, value: true }
  const reader = readContextOf(engine, grant, new Budget(LIMITS, timer))
  try {
    return find(reader, { type: noun.name, filter, limit: 1, total: false }).results.length > 0
  } catch (reason) {
    if (reason instanceof Problem && reason.code === 'over_budget') return true
    throw reason
  }
}
