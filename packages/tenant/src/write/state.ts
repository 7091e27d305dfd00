import {
  checkSet,
  type Issue,
  isoOf,
  type Json,
  type JsonObject,
  listed,
  type Noun,
  Problem,
  sameJson,
  type Verb,
} from '@tildebase/nouns'
import { INTERNAL_TYPES } from '../engine/types.ts'
import type { Compute } from './write.ts'

/** Refuses a verb that may not run from the entity's state. */
export function checkTransition(noun: Noun, verb: Verb, state: JsonObject): void {
  if (!verb.from || !noun.stateField) return
  const now = state[noun.stateField]
  if (typeof now === 'string' && verb.from.includes(now)) return
  throw new Problem(
    'invalid_transition',
    `${verb.name} is allowed from ${verb.from.join(', ')}; this ${noun.name} has ${noun.stateField} ${now ?? 'unset'}.`,
    { type: noun.name, field: noun.stateField, from: verb.from, state: now ?? null },
  )
}

/** The state after merging a patch: top level, null clears. */
export function merge(state: JsonObject, patch: JsonObject): JsonObject {
  const next: Record<string, Json> = { ...state }
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete next[field]
    else next[field] = value
  }
  return next
}

/** The fields that a verb sets, worked out at its time from the state and the arguments. */
export function settings(
  noun: Noun,
  verb: Verb,
  state: JsonObject,
  args: JsonObject,
  now: number,
  compute: Compute,
): { data: JsonObject; issues: readonly Issue[] } {
  const values: Record<string, Json> = {}
  for (const [field, value] of Object.entries(verb.set ?? {})) {
    const worked = workOut(value, noun, verb, field, state, args, now, compute)
    if (worked !== undefined) values[field] = worked
  }
  return checkSet(noun, values)
}

/** The changed fields with their values before; a field that was not there before is null. */
export function changes(before: JsonObject, after: JsonObject): Record<string, Json> | null {
  const changed: Record<string, Json> = {}
  for (const field of Object.keys(before)) {
    if (!sameJson(before[field]!, after[field] ?? null)) changed[field] = before[field]!
  }
  for (const field of Object.keys(after)) if (!Object.hasOwn(before, field)) changed[field] = null
  return Object.keys(changed).length > 0 ? changed : null
}

/** The arguments of a verb as its event keeps them; null when there are none. Secrets never stay in the log. */
export function argumentsText(noun: Noun, args: JsonObject): string | null {
  if (INTERNAL_TYPES.get(noun.name) !== undefined) return null
  const kept = Object.entries(args).filter(([name]) => noun.fields[name]?.kind !== 'secret')
  return kept.length === 0 ? null : textOf(noun, Object.fromEntries(kept))
}

const MAX_ENTITY_BYTES = 1_048_576

/** An entity as it is stored, if it is not too large. */
export function textOf(noun: Noun, data: { readonly [field: string]: Json }): string {
  const text = JSON.stringify(data)
  // No character takes more than three bytes per unit of its length: most texts need no counting.
  const bytes = text.length * 3 > MAX_ENTITY_BYTES ? new TextEncoder().encode(text).length : 0
  if (bytes > MAX_ENTITY_BYTES) {
    throw new Problem('too_large', `A ${noun.name} may have at most 1 MiB of JSON; this one has ${bytes} bytes.`, {
      type: noun.name,
      limit: MAX_ENTITY_BYTES,
    })
  }
  return text
}

function workOut(
  value: Json,
  noun: Noun,
  verb: Verb,
  field: string,
  state: JsonObject,
  args: JsonObject,
  now: number,
  compute: Compute,
): Json | undefined {
  if (typeof value !== 'string' || !value.startsWith('$')) return value
  if (value === '$now') return isoOf(now)
  if (value === '$computed') return compute(noun, verb, field, state, args)
  if (value === '$next') return next(noun, verb, field, state, args[field] ?? null)
  if (value.startsWith('$args.')) return args[value.slice('$args.'.length)]
  return value
}

/** The next value in the order of the enum, among those that lead on: a verb's own order beats the enum's. */
function next(noun: Noun, verb: Verb, field: string, state: JsonObject, wanted: Json): Json | undefined {
  const declared = noun.fields[field]
  const order = verb.order ?? (declared && 'values' in declared ? declared.values : undefined) ?? []
  const at = order.indexOf(String(state[field]))
  const later = order.slice(at + 1)
  if (wanted === null) return later[0] ?? state[field]
  if (later.includes(String(wanted))) return wanted
  throw new Problem(
    'invalid_transition',
    `${verb.name} leads from ${state[field]} to ${later.length > 0 ? listed(later) : 'no other state'}, not to ${wanted}.`,
    { type: noun.name, verb: verb.name, field, state: state[field] ?? null, verbs: verbsTo(noun, wanted) },
  )
}

/** Refuses an entity of a guarded type that would begin in a state which only verbs lead to. */
export function guardStart(noun: Noun, data: JsonObject): void {
  if (!noun.guarded || noun.stateField === null) return
  const state = data[noun.stateField] ?? null
  const field = noun.fields[noun.stateField]
  const fallback = (field && 'default' in field ? field.default : undefined) ?? null
  if (sameJson(state, fallback) || (typeof state === 'string' && noun.start.includes(state))) return
  const begins = [...new Set([...(fallback === null ? [] : [String(fallback)]), ...noun.start])]
  throw refusal(noun, state, begins.length > 0 ? `${article(noun)} begins as ${listed(begins)}.` : '')
}

/** Refuses a change of a guarded state by anything but a verb that declares it. */
export function guardState(noun: Noun, verb: Verb, state: JsonObject, given: JsonObject): void {
  const { guarded, stateField } = noun
  if (!guarded || stateField === null || !Object.hasOwn(given, stateField)) return
  const wanted = given[stateField]!
  const declared = verb.set?.[stateField]
  // What the verb sets replaces the argument, but for the next state, which an argument may name.
  if (declared !== undefined && (declared !== '$next' || orderOf(noun, verb).includes(String(wanted)))) return
  if (sameJson(wanted, state[stateField] ?? null)) return
  throw refusal(noun, wanted, `Only verbs can change ${stateField}.`)
}

/** The verbs that lead to a state. */
function verbsTo(noun: Noun, state: Json): string[] {
  return Object.values(noun.verbs)
    .filter((verb) => {
      const set = noun.stateField === null ? undefined : verb.set?.[noun.stateField]
      return set === state || (set === '$next' && orderOf(noun, verb).indexOf(String(state)) > 0)
    })
    .map(({ name }) => name)
}

/** The states that `$next` walks through. */
function orderOf(noun: Noun, verb: Verb): readonly string[] {
  const field = noun.stateField === null ? undefined : noun.fields[noun.stateField]
  return verb.order ?? (field && 'values' in field ? field.values : undefined) ?? []
}

function refusal(noun: Noun, state: Json, reason: string): Problem {
  const verbs = verbsTo(noun, state)
  const way = verbs.length > 0 ? `${listed(verbs)} leads to ${state}.` : `No verb leads to ${state ?? 'none'}.`
  const field = noun.stateField!
  return new Problem('invalid_transition', `The ${field} of ${noun.name} is guarded. ${reason} ${way}`, {
    type: noun.name,
    field,
    state,
    verbs,
  })
}

function article({ name }: Noun): string {
  return `${/^[AEIOU]/.test(name) ? 'An' : 'A'} ${name}`
}
