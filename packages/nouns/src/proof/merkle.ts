/** SHA-256 over all parts, one after the other. */
export type Sha256 = (...parts: (string | Uint8Array)[]) => Uint8Array

/** The hash of complete subtree `n` of a level: it covers the leaves from `n · 2^level` on. */
export type NodeAt = (level: number, n: number) => Uint8Array

// A prefix byte distinguishes leaves and nodes (RFC 9162, 2.1.1).
const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

/** The hash of a leaf. */
export function leafHash(sha256: Sha256, leaf: Uint8Array): Uint8Array {
  return sha256(LEAF, leaf)
}

/** The hash of a node over its two children. */
export function nodeHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(NODE, left, right)
}

/** The root of the tree over the first `size` leaves. */
export function treeRoot(sha256: Sha256, nodeAt: NodeAt, size: number): Uint8Array {
  return size === 0 ? sha256('') : rangeHash(sha256, nodeAt, 0, size)
}

/** The hashes from leaf `index` to the root of the tree of `size` leaves (RFC 9162, 2.1.3.1). */
export function inclusionProof(sha256: Sha256, nodeAt: NodeAt, index: number, size: number): Uint8Array[] {
  const path = (from: number, to: number): Uint8Array[] => {
    if (to - from === 1) return []
    const middle = from + split(to - from)
    return index < middle
      ? [...path(from, middle), rangeHash(sha256, nodeAt, middle, to)]
      : [...path(middle, to), rangeHash(sha256, nodeAt, from, middle)]
  }
  return path(0, size)
}

/** The hashes which show that the first `old` leaves of the tree of `size` leaves are unchanged (RFC 9162, 2.1.4.1). */
export function consistencyProof(sha256: Sha256, nodeAt: NodeAt, old: number, size: number): Uint8Array[] {
  const path = (from: number, to: number, isOldRoot: boolean): Uint8Array[] => {
    if (to === old) return isOldRoot ? [] : [rangeHash(sha256, nodeAt, from, to)]
    const middle = from + split(to - from)
    return old <= middle
      ? [...path(from, middle, isOldRoot), rangeHash(sha256, nodeAt, middle, to)]
      : [...path(middle, to, false), rangeHash(sha256, nodeAt, from, middle)]
  }
  return old === 0 || old === size ? [] : path(0, size, true)
}

/** The hash over the leaves from one up to (before) another. */
function rangeHash(sha256: Sha256, nodeAt: NodeAt, from: number, to: number): Uint8Array {
  const count = to - from
  const half = split(count)
  if (count === 1 || half * 2 === count) return nodeAt(Math.log2(count), from / count)
  const left = rangeHash(sha256, nodeAt, from, from + half)
  return nodeHash(sha256, left, rangeHash(sha256, nodeAt, from + half, to))
}

/** The largest power of two below a number of leaves. */
function split(count: number): number {
  let half = 1
  while (half * 2 < count) half *= 2
  return half
}
