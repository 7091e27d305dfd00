import { isPlainObject, META_FIELDS, type Noun, nearest, quoted, resolvePath, type Verb } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import { isStored } from './stored-names.ts'

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
