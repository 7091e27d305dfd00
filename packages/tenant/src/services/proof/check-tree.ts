import { nodeHash, sameBytes } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { BLOCK, chainHashes, countNodes, readNode, STORED_LEVEL, storedBlocks } from '../../store/log/tree.ts'
import { isCut, storedCheckpoint } from './stored-checkpoint.ts'
import { subtreeHash, Tree } from './tree.ts'

/** The blocks that are read at once. */
const CHUNK = 64

/** What is wrong with the tree: every stored node is made again from the log, and the last checkpoint must fit it. */
export function treeFaults(engine: Engine): { readonly seq: number | null; readonly message: string }[] {
  const { sql, head } = engine
  if (storedBlocks(sql) * BLOCK > head.seq)
    return [{ seq: head.seq, message: 'The hash tree covers more events than the log has.' }]
  const wrong = firstWrongNode(engine)
  if (wrong !== null) return [{ seq: wrong, message: 'The hash tree does not match the log.' }]
  const signed = storedCheckpoint(engine)
  if (signed === null || isCut(engine)) return []
  if (signed.size <= head.seq && sameBytes(new Tree(engine, signed.size).root(), signed.root)) return []
  return [{ seq: null, message: `The log does not match the checkpoint of size ${signed.size}.` }]
}

/** The last event that the first wrong node covers, or null when all are right. */
function firstWrongNode({ sql, ports }: Engine): number | null {
  const { sha256 } = ports.seal
  const blocks = storedBlocks(sql)
  /** The node of each level that waits for its right neighbour. */
  const lefts: Uint8Array[] = []
  let nodes = 0
  for (let block = 0; block < blocks; block += CHUNK) {
    const leaves = chainHashes(sql, block * BLOCK, Math.min(CHUNK, blocks - block) * BLOCK)
    for (let at = 0; at < leaves.length; at += BLOCK) {
      const wrong = wrongAbove(block + at / BLOCK, subtreeHash(sha256, leaves.slice(at, at + BLOCK)))
      if (wrong !== null) return wrong
    }
  }
  return nodes === countNodes(sql) ? null : 1

  /** Compares a block, and the nodes above it that it completes. */
  function wrongAbove(block: number, hash: Uint8Array): number | null {
    let node = hash
    for (let level = STORED_LEVEL, n = block; ; level++, n = Math.floor(n / 2)) {
      const stored = readNode(sql, level, n)
      if (stored === undefined || !sameBytes(stored, node)) return (n + 1) * 2 ** level
      nodes++
      if (n % 2 === 0) {
        lefts[level] = node
        return null
      }
      node = nodeHash(sha256, lefts[level]!, node)
    }
  }
}
