import type { Sql } from './ports.ts'

/** A transaction: the values that it writes, the ones inside it, and whether it fails in the end. */
export interface Nest {
  readonly steps: readonly (number | Nest)[]
  readonly fails: boolean
  readonly guarded: boolean
}

/** Some transaction, with others inside it down to a depth. */
export function nestOf(chance: (sides: number) => number, depth: number): Nest {
  const step = () => (depth === 0 || chance(2) === 0 ? chance(1_000) : nestOf(chance, depth - 1))
  return {
    steps: Array.from({ length: chance(4) }, step),
    fails: chance(3) === 0,
    guarded: chance(2) === 0,
  }
}

/** Runs it. What fails inside is not its own failure. */
export function nest(sql: Sql, { steps, fails }: Nest): void {
  for (const step of steps) {
    if (typeof step === 'number') sql.run('INSERT INTO t VALUES (?)', step)
    else thrown(() => sql.transaction(() => nest(sql, step), step.guarded ? 'guarded' : undefined))
  }
  if (fails) throw new Error('no')
}

/** The values that it leaves behind. */
export function kept({ steps, fails }: Nest): number[] {
  return fails ? [] : steps.flatMap((step) => (typeof step === 'number' ? [step] : kept(step)))
}

/** Chance that comes out the same each time. */
export function diceOf(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % sides
  }
}

/** What a work throws, or undefined. */
export function thrown(work: () => unknown): unknown {
  try {
    work()
    return undefined
  } catch (reason) {
    return reason
  }
}
