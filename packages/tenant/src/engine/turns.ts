import type { Budget } from '../budget.ts'
import type { Turns } from '../ports.ts'

/** How many milliseconds of a thread work of each kind takes before others have their turn. */
export const TURN = {
  /** A read that is tried as a whole. Longer ones are done in steps. */
  brief: 5,
  /** A slice of long work while requests wait. */
  read: 2,
  /** Requests, answers and live reads together, in one turn of the event loop. */
  short: 4,
  /** The writes of one commit while requests wait. */
  commit: 5,
  /** The part of an import, a batch or a job that one commit takes. */
  bulk: 8,
  /** Any work while no request waits. */
  longest: 20,
} as const

/** Does work at once if it is brief, and else again in steps, with turns for others between them. */
export function briefOrInTurns<T>(
  turns: Turns | undefined,
  budget: Budget,
  work: () => T,
  steps: () => Iterator<void, T>,
): T | Promise<T> {
  return budget.briefly(TURN.brief, work) ?? inTurns(turns, steps())
}

/** Does the steps of long work, with turns for others before and between them. */
export async function inTurns<T>(turns: Turns | undefined, steps: Iterator<void, T>): Promise<T> {
  if (turns) return turns.run(steps)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
