/** How many of one key are in progress. */
export interface Count {
  value: number
}

/** Keys without anything in progress are forgotten when there are more than this. */
const MOST_KEPT = 1_000

/** Counts what is in progress for each key, and allows so many at once. */
export class BoundedCounts {
  readonly #most: number
  readonly #counts = new Map<string, Count>()

  constructor(most: number) {
    this.#most = most
  }

  /** Counts one more, until the count is released. Null when there are as many as are allowed. */
  take(key: string): Count | null {
    const known = this.#counts.get(key)
    const count = known ?? this.#begin(key)
    if (count.value >= this.#most) return null
    count.value++
    return count
  }

  #begin(key: string): Count {
    if (this.#counts.size >= MOST_KEPT)
      for (const [old, { value }] of this.#counts) if (value === 0) this.#counts.delete(old)
    const count = { value: 0 }
    this.#counts.set(key, count)
    return count
  }
}

/** One less is in progress. */
export function release(count: Count): void {
  count.value--
}
