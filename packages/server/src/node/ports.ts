import { createHash, createHmac, hash, randomFillSync, timingSafeEqual } from 'node:crypto'
import type { Clock, Random, Seal } from '@tildebase/tenant'

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

export const systemSeal: Seal = {
  sha256(...parts) {
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts.map((part) => bytesOf(part)))
    // As text and back: that is half the price of asking for bytes.
    return Buffer.from(hash('sha256', whole, 'binary'), 'latin1')
  },
  hmacSha256: (key, body) => createHmac('sha256', key).update(body).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  hasher() {
    const sum = createHash('sha256')
    return { update: (part) => void sum.update(part), digest: () => sum.digest() }
  },
}

function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === 'string' ? Buffer.from(part) : part
}
