import { Problem } from '@tildebase/nouns'
import { TokenBuckets } from '../../doors/limits/token-buckets.ts'
import type { Refusals } from '../watch/refusals.ts'

const HOUR = 3_600_000
/** How many times as many sign-ups as one address has all of them have together. */
const ADDRESSES = 100

/** Bounds the sign-ups of an hour, per address and for the whole process. */
export class SignupLimit {
  readonly #perAddress: number
  readonly #addresses: TokenBuckets
  readonly #process: TokenBuckets
  readonly #refusals: Refusals

  constructor(perAddress: number, refusals: Refusals, now: () => number) {
    this.#perAddress = perAddress
    this.#addresses = new TokenBuckets(perAddress, HOUR, now)
    this.#process = new TokenBuckets(perAddress * ADDRESSES, HOUR, now)
    this.#refusals = refusals
  }

  /** Refuses a sign-up that is one too many. */
  admit(address: string): void {
    if (this.#perAddress === 0) return
    this.#take(this.#addresses, address, 'Your address', this.#perAddress)
    this.#take(this.#process, '', 'This service', this.#perAddress * ADDRESSES)
  }

  #take(buckets: TokenBuckets, key: string, who: string, limit: number): void {
    const left = buckets.take(key)
    if (left >= 0) return
    this.#refusals.count('signups')
    const retryAfter = Math.max(1, Math.ceil(buckets.secondsTo(-left)))
    throw new Problem('rate_limited', `${who} may sign up at most ${limit} times per hour.`, { limit, retryAfter })
  }
}
