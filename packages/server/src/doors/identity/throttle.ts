import { Problem } from '@tildebase/nouns'
import { TokenBuckets } from '../limits/token-buckets.ts'

const QUARTER = 900_000
/** Failed attempts per quarter of an hour: of one address at an account, of all addresses at it, of one address at all. */
const PER_PAIR = 8
const PER_ACCOUNT = 100
const PER_ADDRESS = 60

const now = () => performance.now()
const pairs = new TokenBuckets(PER_PAIR, QUARTER, now)
const accounts = new TokenBuckets(PER_ACCOUNT, QUARTER, now)
const addresses = new TokenBuckets(PER_ADDRESS, QUARTER, now)

/** Lets an attempt to sign in pass, or refuses it. What is known about the account plays no part in it. */
export function takeAttempt(tenant: string, account: string, address: string): { succeeded(): void } {
  const taken: [TokenBuckets, string][] = [
    [pairs, JSON.stringify([tenant, account, address])],
    [accounts, JSON.stringify([tenant, account])],
    [addresses, JSON.stringify([tenant, address])],
  ]
  for (const [buckets, key] of taken) {
    const left = buckets.take(key)
    if (left >= 0) continue
    const retryAfter = Math.max(1, Math.ceil(buckets.secondsTo(-left)))
    throw new Problem('rate_limited', 'There were too many failed attempts to sign in. Try again later.', {
      retryAfter,
    })
  }
  return {
    succeeded() {
      for (const [buckets, key] of taken) buckets.giveBack(key)
    },
  }
}
