import type { SpecialVerb } from '../write/write.ts'
import { analyzeFunnel } from './funnel.ts'
import { createGoal, updateGoal } from './goals.ts'
import { refreshSegment } from './segment.ts'

/** The verbs of business types that compute something. */
export const businessVerbs: { readonly [name: string]: SpecialVerb } = {
  'Funnel.analyze': analyzeFunnel,
  'Goal.create': createGoal,
  'Goal.update': updateGoal,
  'Segment.refresh': refreshSegment,
}
