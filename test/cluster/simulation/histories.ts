import { type Outcome, runHistory } from './history.ts'
import type { Mistakes } from './sim-node.ts'

/** Histories in one turn of the event loop. */
const AT_ONCE = 20

/** Runs histories of these seeds until one goes wrong. Returns the sums over all of them. */
export async function runHistories(
  first: number,
  count: number,
  mistakes: Mistakes = {},
  runOne = runHistory,
): Promise<Outcome & { readonly histories: number }> {
  const totals = { histories: 0, acknowledged: 0, reads: 0, unknown: 0, claims: 0, faults: 0 }
  let fault: string | null = null
  const run = (seed: number) => {
    const outcome = { histories: 1, ...runOne(seed, mistakes) }
    if (outcome.fault !== null) fault = `History ${seed}: ${outcome.fault}`
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += outcome[name]
  }
  for (let next = first; next < first + count && fault === null; ) {
    const end = Math.min(next + AT_ONCE, first + count)
    // A history lets promises continue, which has no effect inside one.
    await new Promise<void>((done, failed) =>
      setImmediate(() => {
        try {
          while (next < end && fault === null) run(next++)
          done()
        } catch (reason) {
          failed(reason)
        }
      }),
    )
  }
  return { fault, ...totals }
}
