import { Problem } from '@tildebase/nouns'
import { TokenBuckets } from '../../doors/limits/token-buckets.ts'
import type { Refusals } from '../watch/refusals.ts'

const MINUTE = 60_000
/** Requests without a key that one address may make in a minute: to sign in, to register a client, to get tokens. */
const PER_ADDRESS = 120

/** Bounds the requests that need no key, before a tenant is asked. */
export class OpenLimit {
  readonly #addresses: TokenBuckets
  readonly #refusals: Refusals

  constructor(refusals: Refusals, now: () => number) {
    this.#addresses = new TokenBuckets(PER_ADDRESS, MINUTE, now)
    this.#refusals = refusals
  }

  /** Refuses a request that is one too many. */
  admit(address: string): void {
    const left = this.#addresses.take(address)
    if (left >= 0) return
    this.#refusals.count('open_paths')
    const retryAfter = Math.max(1, Math.ceil(this.#addresses.secondsTo(-left)))
    throw new Problem(
      'rate_limited',
      `Your address may send at most ${PER_ADDRESS} requests per minute without a key.`,
      {
        limit: PER_ADDRESS,
        retryAfter,
      },
    )
  }
}
