import { BoundedMap } from '@tildebase/nouns/bounded-map'

interface Bucket {
  tokens: number
  at: number
}

const MOST_KEYS = 50_000

/** A bucket of tokens for each key, filled evenly over a period. */
export class TokenBuckets {
  readonly #most: number
  readonly #periodMs: number
  readonly #now: () => number
  /** In the order of their last use: one that was not used for long is full again, and need not be kept. */
  readonly #buckets = new BoundedMap<string, Bucket>(MOST_KEYS)

  constructor(most: number, periodMs: number, now: () => number) {
    this.#most = most
    this.#periodMs = periodMs
    this.#now = now
  }

  /** Takes a token. Returns how many are left, or a negative number (the part of a token that is missing) when there is none. */
  take(key: string): number {
    const now = this.#now()
    const known = this.#buckets.get(key)
    const filled = known ? known.tokens + ((now - known.at) / this.#periodMs) * this.#most : this.#most
    const tokens = Math.min(filled, this.#most)
    const left = tokens - 1
    this.#buckets.set(key, { tokens: left < 0 ? tokens : left, at: now })
    return left
  }

  /** Returns a token that was not used. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key)
    if (bucket) bucket.tokens = Math.min(bucket.tokens + 1, this.#most)
  }

  /** How many seconds it takes until so many tokens have come in. */
  secondsTo(tokens: number): number {
    return ((tokens / this.#most) * this.#periodMs) / 1_000
  }
}
