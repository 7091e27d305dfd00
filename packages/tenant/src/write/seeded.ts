import type { Random, Seal } from '../ports.ts'

const SEED_LENGTH = 32

/** Chance that comes out the same each time it is begun again: what is run twice then gives the same ids. */
export function seededRandom(seal: Seal, seed: Uint8Array): Random {
  let block = 0
  let pool = new Uint8Array()
  return {
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let filled = 0; filled < count; ) {
        if (pool.length === 0) pool = new Uint8Array(seal.sha256(seed, String(block++)))
        const part = pool.subarray(0, count - filled)
        bytes.set(part, filled)
        filled += part.length
        pool = pool.subarray(part.length)
      }
      return bytes
    },
  }
}

/** A random seed. */
export function newSeed(random: Random): Uint8Array {
  return random.bytes(SEED_LENGTH)
}
