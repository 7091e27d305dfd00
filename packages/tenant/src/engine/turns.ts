import type { Budget } from '../budget.ts'
import type { Clock, Turns } from '../ports.ts'

/** What time is taken from. */
interface Timing {
  readonly turns?: Turns | undefined
  readonly clock: Clock
}

/** Long work, step by step. Each step takes a few milliseconds at most; others may have their turn between two. */
export type Steps<T> = Generator<void, T>

/** Work that is done, or the steps that do it. */
export type Stepwise<T> = T | Steps<T>

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
  /** A write that is tried in one commit. Longer ones become tasks. */
  attempt: 25,
} as const

/** What slices of long work are measured with. */
export function timerOf({ turns, clock }: Timing): () => number {
  return () => turns?.now() ?? clock.now()
}

/** A slice of work, from now on: says when it has had its time, which is shorter while requests wait. */
export function sliceOf(ports: Timing): () => boolean {
  const now = timerOf(ports)
  const begun = now()
  return () => {
    const ms = now() - begun
    return ms >= TURN.bulk || (ms >= TURN.read && ports.turns?.isAwaited() === true)
  }
}

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
  return turns ? turns.run(steps) : toEnd(steps)
}

/** Does all steps at once. */
export function toEnd<T>(steps: Iterator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Does stepwise work at once. */
export function done<T>(work: Stepwise<T>): T {
  return isSteps(work) ? toEnd(work) : work
}

/** Stepwise work as steps. */
export function* asSteps<T>(work: Stepwise<T>): Steps<T> {
  return isSteps(work) ? yield* work : work
}

export function isSteps<T>(work: Stepwise<T>): work is Steps<T> {
  return typeof work === 'object' && work !== null && Symbol.iterator in work && 'next' in work
}
