import type { Budget } from '../budget.ts'
import type { Turns } from '../ports.ts'

/** Work that takes longer than this is done in turns. */
const BRIEF_MS = 5
/** The milliseconds after which work yields: work that a request waits for, and background work. */
const AWAITED_MS = 2
const LONGEST_MS = 20

/** Does work at once if it is brief, and else again in steps, with turns for others between them. */
export function briefOrInTurns<T>(
  turns: Turns | undefined,
  budget: Budget,
  work: () => T,
  steps: () => Iterator<void, T>,
): T | Promise<T> {
  return budget.briefly(BRIEF_MS, work) ?? inTurns(turns, steps())
}

/** Does the steps of long work, with turns for others before and between them. */
export async function inTurns<T>(turns: Turns | undefined, steps: Iterator<void, T>): Promise<T> {
  if (!turns) return toEnd(steps)
  for (;;) {
    await turns.next()
    const begun = turns.now()
    const step = stepsUntil(turns, steps, begun)
    turns.worked(turns.now() - begun)
    if (step.done) return step.value
  }
}

function stepsUntil<T>(turns: Turns, steps: Iterator<void, T>, begun: number): IteratorResult<void, T> {
  for (;;) {
    const step = steps.next()
    const ms = turns.now() - begun
    if (step.done || ms >= LONGEST_MS || (ms >= AWAITED_MS && turns.isAwaited())) return step
  }
}

function toEnd<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
