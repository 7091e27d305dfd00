import type { Definition } from './definition.ts'
import { undoPlace } from './steps/step.ts'

/** What became of a step: null while it has not ended. */
export type StepOutcome = 'Succeeded' | 'Failed' | 'Skipped' | null

/** The place of the step that a run does next, or how the run ends. */
export type Next = { readonly place: number } | { readonly end: 'Succeeded' | 'Failed' }

/**
 * What comes next in a run. Steps run in order. After a failure, `Continue` continues. Otherwise what the steps before
 * have done is undone, the last one first, where they say how; then `Stop` ends the run, and `Fallback` runs the steps
 * that are marked as such instead of the rest.
 */
export function nextStep(
  { steps, errorHandling }: Pick<Definition, 'steps' | 'errorHandling'>,
  outcomeAt: (place: number) => StepOutcome,
): Next {
  const places = steps.map((_, i) => i)
  const main = places.filter((i) => !steps[i]!.fallback)
  const fallback = places.filter((i) => steps[i]!.fallback)
  const hasFailed = main.some((i) => outcomeAt(i) === 'Failed')
  if (!hasFailed || errorHandling === 'Continue') return firstOpen(main, outcomeAt)
  const undone = main.findLast(
    (i) => steps[i]!.undo !== undefined && outcomeAt(i) === 'Succeeded' && outcomeAt(undoPlace(i)) === null,
  )
  if (undone !== undefined) return { place: undoPlace(undone) }
  const isOver = errorHandling === 'Stop' || fallback.length === 0 || fallback.some((i) => outcomeAt(i) === 'Failed')
  return isOver ? { end: 'Failed' } : firstOpen(fallback, outcomeAt)
}

function firstOpen(places: readonly number[], outcomeAt: (place: number) => StepOutcome): Next {
  const place = places.find((i) => outcomeAt(i) === null)
  return place === undefined ? { end: 'Succeeded' } : { place }
}
