import type { Json, JsonObject } from '@tildebase/nouns'
import type { Compute } from '../write/write.ts'

type Formula = (state: JsonObject, args: JsonObject) => Json | undefined

/** What `$computed` means for each verb and field that declares it. */
const FORMULAS: { readonly [name: string]: Formula } = {
  'Organization.score.healthScore': healthScore,
  'Form.submit.submissionCount': (state) => numberOf(state.submissionCount) + 1,
  'Workflow.trigger.runCount': (state) => numberOf(state.runCount) + 1,
}

/** Works out `$computed` for the verbs of the built-in types. */
export const computed: Compute = (noun, verb, field, state, args) =>
  FORMULAS[`${noun.name}.${verb.name}.${field}`]?.(state, args)

/** The health of a customer, 0 to 100, from its known values; unknown values do not count. */
function healthScore(state: JsonObject): Json {
  const signs: number[] = []
  if (state.status !== undefined) signs.push(state.status === 'Active' ? 100 : 0)
  if (typeof state.npsScore === 'number') signs.push(Math.min(Math.max((state.npsScore + 100) / 2, 0), 100))
  if (typeof state.lifetimeValue === 'number') signs.push(state.lifetimeValue > 0 ? 100 : 0)
  if (state.type !== undefined) signs.push(state.type === 'Customer' || state.type === 'Partner' ? 100 : 50)
  return signs.length === 0 ? 0 : Math.round(signs.reduce((sum, sign) => sum + sign, 0) / signs.length)
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
