import { createHash, hash, randomFillSync, timingSafeEqual } from 'node:crypto'
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
  sha256,
  hmacSha256,
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  hasher(algorithm = 'sha256') {
    const sum = createHash(algorithm)
    return { update: (part) => void sum.update(part), digest: () => sum.digest() }
  },
}

function sha256(...parts: (string | Uint8Array)[]): Uint8Array {
  // As text and back: that is half the price of asking for bytes.
  return Buffer.from(hash('sha256', parts.length === 1 ? parts[0]! : together(parts), 'binary'), 'latin1')
}

const BLOCK = 64

/** RFC 2104 with two hashes in one step each: `createHmac` prepares a key and a state for every call, which costs more. */
function hmacSha256(key: string | Uint8Array, body: string): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key) : key
  const block = bytes.length > BLOCK ? sha256(bytes) : bytes
  const inner = new Uint8Array(BLOCK).fill(0x36)
  const outer = new Uint8Array(BLOCK).fill(0x5c)
  for (let i = 0; i < block.length; i++) {
    inner[i]! ^= block[i]!
    outer[i]! ^= block[i]!
  }
  return sha256(outer, sha256(inner, body))
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
