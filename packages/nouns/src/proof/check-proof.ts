import { nodeHash, type Sha256 } from './merkle.ts'

const HASH_LENGTH = 32

/** The root that an inclusion proof computes, or null if it does not match the tree (RFC 9162, 2.1.3.2). */
export function rootOfInclusion(
  sha256: Sha256,
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
): Uint8Array | null {
  if (!isSize(index) || !isSize(size) || index >= size || ![leaf, ...proof].every(isHash)) return null
  let position = index
  let last = size - 1
  let root = leaf
  for (const hash of proof) {
    if (last === 0) return null
    if (isOdd(position) || position === last) {
      root = nodeHash(sha256, hash, root)
      while (!isOdd(position) && position !== 0) {
        position = half(position)
        last = half(last)
      }
    } else root = nodeHash(sha256, root, hash)
    position = half(position)
    last = half(last)
  }
  return last === 0 ? root : null
}

/** A tree head: how many leaves, and the root over them. */
export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** Whether a proof shows that the leaves of `old` are the first leaves of `head` (RFC 9162, 2.1.4.2). */
export function isConsistent(sha256: Sha256, old: TreeHead, head: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (!isSize(old.size) || !isSize(head.size) || old.size > head.size) return false
  if (![old.root, head.root, ...proof].every(isHash)) return false
  if (old.size === head.size) return proof.length === 0 && sameBytes(old.root, head.root)
  if (old.size === 0) return proof.length === 0 && sameBytes(old.root, sha256(''))
  const path = isPowerOfTwo(old.size) ? [old.root, ...proof] : proof
  const [first, ...rest] = path
  if (first === undefined || proof.length === 0) return false
  let position = old.size - 1
  let last = head.size - 1
  while (isOdd(position)) {
    position = half(position)
    last = half(last)
  }
  let oldRoot = first
  let root = first
  for (const hash of rest) {
    if (last === 0) return false
    if (isOdd(position) || position === last) {
      oldRoot = nodeHash(sha256, hash, oldRoot)
      root = nodeHash(sha256, hash, root)
      while (!isOdd(position) && position !== 0) {
        position = half(position)
        last = half(last)
      }
    } else root = nodeHash(sha256, root, hash)
    position = half(position)
    last = half(last)
  }
  return last === 0 && sameBytes(oldRoot, old.root) && sameBytes(root, head.root)
}

/** Whether two hashes are equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_LENGTH
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value)) && 2 ** Math.log2(value) === value
}

function isOdd(value: number): boolean {
  return value % 2 === 1
}

function half(value: number): number {
  return Math.floor(value / 2)
}
