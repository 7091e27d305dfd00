import { nodeHash, sameBytes } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { BLOCK, chainHashes, countNodes, nodesFrom, STORED_LEVEL, storedBlocks } from '../../store/tree.ts'
import { originOf, storedCheckpoint } from './stored-checkpoint.ts'
import { subtreeHash, Tree } from './tree.ts'

const CHUNK = 64

/** What is wrong with the tree: every stored node is made again from the log, and the last checkpoint must fit it. */
export function treeFaults(engine: Engine): { readonly seq: number | null; readonly message: string }[] {
  const { sql, head } = engine
  if (storedBlocks(sql) * BLOCK > head.seq) return [fault(head.seq, 'The hash tree covers more events than there are.')]
  const wrong = firstWrongNode(engine)
  if (wrong !== null) return [fault(wrong, 'The hash tree is not that of the log.')]
  const signed = storedCheckpoint(engine)
  if (signed?.origin !== originOf(engine)) return []
  const isThere = signed.size <= head.seq && sameBytes(new Tree(engine, signed.size).root(), signed.root)
  return isThere ? [] : [fault(null, `The log does not contain what the checkpoint of size ${signed.size} signed.`)]
}

/** The last event that the first wrong node covers, or null when all are right. */
function firstWrongNode({ sql, ports }: Engine): number | null {
  const { sha256 } = ports.seal
  let expected = hashesOfBlocks()
  let total = 0
  for (let level = STORED_LEVEL; expected.length > 0; level++) {
    const found = nodesFrom(sql, level, 0, expected.length + 1)
    total += found.length
    const at = expected.findIndex((hash, n) => found[n]?.[0] !== n || !sameBytes(found[n]![1], hash))
    if (at !== -1 || found.length !== expected.length) return ((at === -1 ? expected.length : at) + 1) * 2 ** level
    const below = expected
    expected = Array.from({ length: Math.floor(below.length / 2) }, (_, n) =>
      nodeHash(sha256, below[2 * n]!, below[2 * n + 1]!),
    )
  }
  return total === countNodes(sql) ? null : 1

  function hashesOfBlocks(): Uint8Array[] {
    const hashes: Uint8Array[] = []
    const blocks = storedBlocks(sql)
    for (let first = 0; first < blocks; first += CHUNK) {
      const leaves = chainHashes(sql, first * BLOCK, Math.min(CHUNK, blocks - first) * BLOCK)
      for (let at = 0; at < leaves.length; at += BLOCK) hashes.push(subtreeHash(sha256, leaves.slice(at, at + BLOCK)))
    }
    return hashes
  }
}

function fault(seq: number | null, message: string) {
  return { seq, message }
}
