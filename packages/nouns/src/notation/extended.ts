import type { JsonObject, Noun } from '../noun.ts'
import { isPlainObject } from '../value/json.ts'
import type { NounOptions } from './declare.ts'
import { parseNoun } from './notation.ts'

/** A type with what another declaration of its name adds. Its domain, its path, and the timers that are not replaced stay. */
export function extended(noun: Noun, added: JsonObject, options: Pick<NounOptions, 'renamed'> = {}): Noun {
  const { name, notation, domain, path, storage } = noun
  const merged = { ...notation, ...added, ...timersOf(notation, added) }
  return parseNoun(name, merged, { ...options, domain, path, storage })
}

function timersOf({ $timers: before }: JsonObject, { $timers: added }: JsonObject): JsonObject {
  return isPlainObject(before) && isPlainObject(added) ? { $timers: { ...before, ...added } as JsonObject } : {}
}
