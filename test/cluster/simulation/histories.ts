import { type Outcome, runHistory } from './history.ts'
import type { Mistakes } from './sim-node.ts'

/** Worlds that share the turns of the event loop: one alone would wait most of the time. */
const AT_ONCE = 50

/** Runs histories of these seeds until one goes wrong. Returns the sums over all of them. */
export async function runHistories(first: number, count: number, mistakes: Mistakes = {}): Promise<Outcome> {
  const totals = { acknowledged: 0, reads: 0, unknown: 0, claims: 0, faults: 0 }
  let next = first
  let fault: string | null = null
  const work = async () => {
    while (next < first + count && fault === null) {
      const seed = next++
      const outcome = await runHistory(seed, mistakes)
      if (outcome.fault !== null) fault ??= `History ${seed}: ${outcome.fault}`
      for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += outcome[name]
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { fault, ...totals }
}
