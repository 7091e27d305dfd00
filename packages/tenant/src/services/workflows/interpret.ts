import type { Definition } from './definition.ts'

/** What became of a step: null while it has not ended. */
export type StepOutcome = 'Succeeded' | 'Failed' | null

/** The step that a run does next, or how the run ends. */
export type Next = { readonly step: number } | { readonly end: 'Succeeded' | 'Failed' }

/**
 * What comes next in a run. Steps run in order. After a failure, `Stop` ends the run, `Continue` continues, and
 * `Fallback` runs the steps that are marked as such instead of the rest.
 */
export function nextStep(
  { steps, errorHandling }: Pick<Definition, 'steps' | 'errorHandling'>,
  outcomes: readonly StepOutcome[],
): Next {
  const places = steps.map((_, i) => i)
  const main = places.filter((i) => !steps[i]!.fallback)
  const fallback = places.filter((i) => steps[i]!.fallback)
  const hasFailed = main.some((i) => outcomes[i] === 'Failed')
  if (hasFailed && errorHandling === 'Stop') return { end: 'Failed' }
  if (hasFailed && errorHandling === 'Fallback') {
    if (fallback.length === 0 || fallback.some((i) => outcomes[i] === 'Failed')) return { end: 'Failed' }
    return firstOpen(fallback, outcomes)
  }
  return firstOpen(main, outcomes)
}

function firstOpen(places: readonly number[], outcomes: readonly StepOutcome[]): Next {
  const step = places.find((i) => (outcomes[i] ?? null) === null)
  return step === undefined ? { end: 'Succeeded' } : { step }
}
