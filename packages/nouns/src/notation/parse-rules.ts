import { isComputed } from '../expression/computed.ts'
import type { Field, Json, JsonObject } from '../noun.ts'
import { listed } from './english.ts'
import type { Tell } from './parse-field.ts'

const MOST_UNIQUE = 10
const MOST_PARTS = 8

/** Parses `$unique: [["a", "b"]]`: fields that are unique together. Reports every error. */
export function parseUnique(given: unknown, fields: ReadonlyMap<string, Field>, tell: Tell): string[][] {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > MOST_UNIQUE) {
    tell(`must be a list of at most ${MOST_UNIQUE} lists of fields, such as [["code", "country"]]`)
    return []
  }
  return given.flatMap((names) => {
    const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
    if (!isList || names.length < 2 || names.length > MOST_PARTS || new Set(names).size < names.length) {
      tell(`has ${JSON.stringify(names)}; each is a list of 2 to ${MOST_PARTS} different fields`)
      return []
    }
    for (const name of names) {
      const field = fields.get(name)
      if (field === undefined) tell(`names ${name}, which is not a field of this type`)
      else if (!isSingle(field)) tell(`names ${name}, which is not a field with a single value`)
    }
    return [names]
  })
}

/** Parses `$guarded` and `$start`: whether only verbs change the state field, and the start states. */
export function parseGuard(
  { $guarded: guarded = false, $start: start }: JsonObject,
  states: readonly string[] | null,
  tellOf: (field: string) => Tell,
): { readonly guarded: boolean; readonly start: readonly string[] } {
  if (typeof guarded !== 'boolean') tellOf('$guarded')('must be true or false')
  if (guarded === true && states === null)
    tellOf('$guarded')('needs a state field: set one in a verb, or declare status or stage')
  return { guarded: guarded === true, start: startOf(start, states, tellOf('$start')) }
}

function startOf(given: Json | undefined, states: readonly string[] | null, tell: Tell): readonly string[] {
  if (given === undefined) return []
  const list: readonly Json[] = Array.isArray(given) ? given : [given as Json]
  const unknown = list.filter((state) => typeof state !== 'string' || !states?.includes(state))
  if (unknown.length > 0)
    tell(states ? `must name states: ${listed(states)}` : 'names states, but the type has no state field')
  return list.map(String)
}

/** Kinds whose values are not compared as one. */
const UNCOMPARED: ReadonlySet<Field['kind']> = new Set(['json', 'file', 'secret'])

function isSingle(field: Field): boolean {
  return field.kind !== 'back' && !UNCOMPARED.has(field.kind) && !field.list && !isComputed(field)
}
