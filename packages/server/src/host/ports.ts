import { createHash, createHmac, hash, randomFillSync, timingSafeEqual } from 'node:crypto'
import type { Clock, Random, Seal } from '@tildebase/tenant/ports'

export const systemClock: Clock = { now: () => Date.now() }

const POOL = 8_192
const pool = new Uint8Array(POOL)
let used = POOL

/** Random bytes from a pool: one call to the system serves hundreds of ids. */
export const systemRandom: Random = {
  bytes(count) {
    if (count > POOL) return randomFillSync(new Uint8Array(count))
    if (used + count > POOL) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + count)
    // Bytes are handed out once.
    pool.fill(0, used, used + count)
    used += count
    return bytes
  },
}

/** Parts that are hashed together are gathered here, when they fit. */
const gathered = Buffer.allocUnsafeSlow(65_536)
const MOST_BYTES_OF_UNIT = 3

export const systemSeal: Seal = {
  sha256(...parts) {
    // As text and back: that is half the price of asking for bytes.
    return Buffer.from(hash('sha256', parts.length === 1 ? parts[0]! : together(parts), 'binary'), 'latin1')
  },
  hmacSha256: (key, body) => createHmac('sha256', key).update(body).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  hasher() {
    const sum = createHash('sha256')
    return { update: (part) => void sum.update(part), digest: () => sum.digest() }
  },
}

function together(parts: readonly (string | Uint8Array)[]): Uint8Array {
  let length = 0
  for (const part of parts) {
    const isText = typeof part === 'string'
    if (length + part.length * (isText ? MOST_BYTES_OF_UNIT : 1) > gathered.length) {
      return Buffer.concat(parts.map((one) => (typeof one === 'string' ? Buffer.from(one) : one)))
    }
    if (isText) length += gathered.write(part, length)
    else {
      gathered.set(part, length)
      length += part.length
    }
  }
  return gathered.subarray(0, length)
}
