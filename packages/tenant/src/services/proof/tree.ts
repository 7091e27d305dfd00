import {
  consistencyProof,
  inclusionProof,
  leafHash,
  type NodeAt,
  nodeHash,
  type Sha256,
  treeRoot,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { addNode, BLOCK, chainHashes, readNode, STORED_LEVEL, storedBlocks } from '../../store/log/tree.ts'

/** Hashing this many blocks takes some 10 ms. */
const SLICE = 128

/** How many events are in complete blocks that the stored tree does not have yet. */
export function treeBacklog({ sql, head }: Engine): number {
  return (Math.floor(head.seq / BLOCK) - storedBlocks(sql)) * BLOCK
}

/**
 * Adds the next complete blocks of the log to the tree, and commits them. Returns whether it has all of them now.
 * A write does not wait for this: the hashes of events are in the log, and the log only grows, so a tree that is behind
 * is the tree of an earlier time.
 */
export function extendTree({ sql, ports, head }: Engine): boolean {
  const first = storedBlocks(sql)
  const complete = Math.floor(head.seq / BLOCK)
  const end = Math.min(complete, first + SLICE)
  if (end > first) {
    sql.transaction(() => {
      const leaves = chainHashes(sql, first * BLOCK, (end - first) * BLOCK)
      for (let block = first; block < end; block++) {
        const at = (block - first) * BLOCK
        addBlock(block, subtreeHash(ports.seal.sha256, leaves.slice(at, at + BLOCK)))
      }
    })
  }
  return end === complete

  /** Stores a node, and those above it that it completes. */
  function addBlock(block: number, hash: Uint8Array): void {
    let level = STORED_LEVEL
    let n = block
    let node = hash
    for (;;) {
      addNode(sql, level, n, node)
      if (n % 2 === 0) return
      node = nodeHash(ports.seal.sha256, readNode(sql, level, n - 1)!, node)
      n = Math.floor(n / 2)
      level++
    }
  }
}

/** The tree over the first `size` events, which complete blocks of the log are part of already. */
export class Tree {
  readonly size: number
  readonly #sha256: Sha256
  readonly #nodeAt: NodeAt

  constructor(engine: Engine, size: number) {
    const { sql, ports } = engine
    while (!extendTree(engine));
    this.size = size
    this.#sha256 = ports.seal.sha256
    this.#nodeAt = (level, n) =>
      level >= STORED_LEVEL
        ? readNode(sql, level, n)!
        : subtreeHash(ports.seal.sha256, chainHashes(sql, n * 2 ** level, 2 ** level))
  }

  root(): Uint8Array {
    return treeRoot(this.#sha256, this.#nodeAt, this.size)
  }

  /** What leads from the event of a seq to the root. */
  inclusion(seq: number): Uint8Array[] {
    return inclusionProof(this.#sha256, this.#nodeAt, seq - 1, this.size)
  }

  /** What shows that an earlier tree is the beginning of this one. */
  consistency(old: number): Uint8Array[] {
    return consistencyProof(this.#sha256, this.#nodeAt, old, this.size)
  }
}

/** The hash of the complete subtree over some leaves; their number is a power of two. */
export function subtreeHash(sha256: Sha256, chainHashesOfEvents: readonly Uint8Array[]): Uint8Array {
  let row = chainHashesOfEvents.map((hash) => leafHash(sha256, hash))
  while (row.length > 1) {
    row = Array.from({ length: row.length / 2 }, (_, i) => nodeHash(sha256, row[2 * i]!, row[2 * i + 1]!))
  }
  return row[0]!
}
