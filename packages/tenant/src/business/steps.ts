import type { Steps } from '../engine/turns.ts'

const STEP = 1_000

/** Something an actor did that counts as one or more steps. */
export interface Visit {
  readonly actor: string
  readonly at: number
  /** Its place in the log, which orders what happened at one time. */
  readonly seq: number
  /** The steps, from 0, that it can represent. */
  readonly steps: readonly number[]
}

/** How many actors completed at least the first, the first two, … steps in order, all within `windowMs` of the first. */
export function* deepest(visits: readonly Visit[], steps: number, windowMs: number): Steps<number[]> {
  // For each actor and step: the latest beginning of a way that has come this far. A later one leaves more time.
  const ways = new Map<string, number[]>()
  const depths = new Map<string, number>()
  for (const [index, { actor, at, steps: matching }] of visits.entries()) {
    if (index % STEP === STEP - 1) yield
    const way = ways.get(actor) ?? []
    ways.set(actor, way)
    // From the last step down, so that one visit is not taken for two steps.
    for (const step of matching.toReversed()) {
      const begun = step === 0 ? at : way[step - 1]
      if (begun === undefined || at - begun > windowMs) continue
      way[step] = Math.max(way[step] ?? Number.NEGATIVE_INFINITY, begun)
      depths.set(actor, Math.max(depths.get(actor) ?? 0, step + 1))
    }
  }
  const counts = new Array<number>(steps).fill(0)
  for (const depth of depths.values()) for (let step = 0; step < depth; step++) counts[step]!++
  return counts
}
