import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from './http.ts'

const MINUTE = 60_000
const MOST_KEYS = 50_000

interface Bucket {
  tokens: number
  at: number
}

/** Lets each key make so many requests a minute: a bucket of as many tokens, filled evenly. */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Takes a token of a key: the headers that tell how many are left, and the problem of having none. */
  take(key: string): { readonly headers: HttpResponse['headers']; readonly refused: Problem | null } {
    const now = this.#now()
    const known = this.#buckets.get(key)
    const filled = known ? known.tokens + ((now - known.at) / MINUTE) * this.#perMinute : this.#perMinute
    const tokens = Math.min(filled, this.#perMinute)
    const left = tokens - 1
    this.#buckets.delete(key)
    this.#buckets.set(key, { tokens: left < 0 ? tokens : left, at: now })
    // A bucket that was not used for long is full again, and need not be kept.
    if (this.#buckets.size > MOST_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!)
    if (left >= 0) return { headers: this.#headers(left), refused: null }
    const retryAfter = Math.max(1, Math.ceil(this.#secondsTo(1 - tokens)))
    const refused = new Problem('rate_limited', `This key may make ${this.#perMinute} requests a minute.`, {
      limit: this.#perMinute,
      retryAfter,
    })
    return { headers: this.#headers(0), refused }
  }

  #headers(left: number): HttpResponse['headers'] {
    return {
      'ratelimit-limit': String(this.#perMinute),
      'ratelimit-remaining': String(Math.floor(left)),
      'ratelimit-reset': String(Math.ceil(this.#secondsTo(this.#perMinute - left))),
    }
  }

  /** How long it takes until so many tokens have come in. */
  #secondsTo(tokens: number): number {
    return (tokens / this.#perMinute) * 60
  }
}
