import type { Noun, Verb } from '@tildebase/nouns'

/** A transition between states by a verb; `from` null means any state. */
interface Transition {
  readonly from: string | null
  readonly to: string
  readonly verb: string
}

/** The states of a type and the verbs between them as a Mermaid diagram; null for a type whose verbs change no state. */
export function stateDiagram(noun: Noun): string | null {
  const states = statesOf(noun)
  const transitions = Object.values(noun.verbs).flatMap((verb) => transitionsOf(noun, verb, states))
  if (transitions.length === 0) return null
  const start = defaultOf(noun)
  const used = states.filter(
    (state) => state === start || transitions.some(({ from, to }) => from === state || to === state),
  )
  const idOf = (state: string | null) => (state === null ? 'any' : `s${states.indexOf(state)}`)
  const timed = new Set(Object.values(noun.timers).map(({ run }) => run))
  const merged = Map.groupBy(transitions, ({ from, to }) => `${idOf(from)} --> ${idOf(to)}`)
  return [
    'stateDiagram-v2',
    ...used.map((state) => `  state "${state}" as ${idOf(state)}`),
    ...(transitions.some(({ from }) => from === null) ? ['  state "any state" as any'] : []),
    ...(start === null ? [] : [`  [*] --> ${idOf(start)}`]),
    ...[...merged].map(
      ([edge, verbs]) => `  ${edge}: ${verbs.map(({ verb }) => (timed.has(verb) ? `${verb} ⏱` : verb)).join(', ')}`,
    ),
  ].join('\n')
}

/** The words of the state field. */
function statesOf({ fields, stateField }: Noun): readonly string[] {
  const field = stateField === null ? undefined : fields[stateField]
  return field?.kind === 'enum' ? (field.values ?? []) : []
}

function defaultOf({ fields, stateField }: Noun): string | null {
  const field = stateField === null ? undefined : fields[stateField]
  return field !== undefined && 'default' in field && typeof field.default === 'string' ? field.default : null
}

function transitionsOf(noun: Noun, { name, from, set, order }: Verb, states: readonly string[]): Transition[] {
  const to = noun.stateField === null ? undefined : set?.[noun.stateField]
  if (typeof to !== 'string') return []
  if (to === '$next') {
    const way = order ?? states
    return way.slice(1).map((state, index) => ({ from: way[index]!, to: state, verb: name }))
  }
  if (!states.includes(to)) return []
  if (from === undefined) return [{ from: null, to, verb: name }]
  return from.filter((state) => state !== to).map((state) => ({ from: state, to, verb: name }))
}
