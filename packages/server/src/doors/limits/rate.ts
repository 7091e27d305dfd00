import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from '../http.ts'
import { TokenBuckets } from './token-buckets.ts'

const MINUTE = 60_000

/** A request of a key that was counted: the headers that tell how many are left, and the problem of having none. */
export interface Turn {
  readonly headers: HttpResponse['headers']
  readonly refused: Problem | null
}

/** Lets each key make so many requests a minute: a bucket of as many tokens, filled evenly. */
export class RateLimit {
  readonly #perMinute: number
  readonly #buckets: TokenBuckets

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#buckets = new TokenBuckets(perMinute, MINUTE, now)
  }

  /** Takes a token of a key. */
  take(key: string): Turn {
    const left = this.#buckets.take(key)
    if (left >= 0) return { headers: this.#headers(left), refused: null }
    const retryAfter = Math.max(1, Math.ceil(this.#buckets.secondsTo(-left)))
    const refused = new Problem('rate_limited', `This key may send at most ${this.#perMinute} requests per minute.`, {
      limit: this.#perMinute,
      retryAfter,
    })
    return { headers: this.#headers(0), refused }
  }

  #headers(left: number): HttpResponse['headers'] {
    return {
      'ratelimit-limit': String(this.#perMinute),
      'ratelimit-remaining': String(Math.floor(left)),
      'ratelimit-reset': String(Math.ceil(this.#buckets.secondsTo(this.#perMinute - left))),
    }
  }
}
