import { type Json, type JsonObject, listed, type Noun, Problem, sameJson, type Verb } from '@tildebase/nouns'

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
export function verbsTo(noun: Noun, state: Json): string[] {
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
