import type { Steps } from '../engine/turns.ts'

const STEP = 1_000

/** Something an actor did that counts as one or more steps. */
export interface Visit {
  readonly actor: string | number
  readonly at: number
  /** The steps, from 0, that it can represent. */
  readonly steps: readonly number[]
}

/** How many actors completed at least the first, the first two, … steps in order, all within `windowMs` of the first. */
export function* deepest(visits: Iterable<Visit>, steps: number, windowMs: number): Steps<number[]> {
  // For each actor and step: the latest beginning of a way that has come this far. A later one leaves more time.
  const ways = new Map<Visit['actor'], number[]>()
  const depths = new Map<Visit['actor'], number>()
  let index = 0
  for (const { actor, at, steps: matching } of visits) {
    if (++index % STEP === 0) yield
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

/** Comparisons that one step of sorting makes. */
const COMPARED = 100_000

/** The places of numbers in ascending order; of equal ones the last comes first. A merge sort in steps. */
export function* ascending(numbers: readonly number[]): Steps<Uint32Array> {
  const { length } = numbers
  let order = new Uint32Array(length)
  let next = new Uint32Array(length)
  for (let i = 0; i < length; i++) order[i] = length - 1 - i
  let compared = 0
  for (let width = 1; width < length; width *= 2) {
    for (let from = 0; from < length; from += 2 * width) {
      merge(numbers, order, next, from, Math.min(from + width, length), Math.min(from + 2 * width, length))
      compared += 2 * width
      if (compared < COMPARED) continue
      compared = 0
      yield
    }
    ;[order, next] = [next, order]
  }
  return order
}

/** Merges two neighbouring parts of an order into the next order. */
function merge(
  numbers: readonly number[],
  order: Uint32Array,
  next: Uint32Array,
  from: number,
  middle: number,
  end: number,
): void {
  let [left, right] = [from, middle]
  for (let i = from; i < end; i++) {
    const isLeft = left < middle && (right >= end || numbers[order[left]!]! <= numbers[order[right]!]!)
    next[i] = isLeft ? order[left++]! : order[right++]!
  }
}
