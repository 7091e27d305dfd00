import type { EventProof } from '@tildebase/client'
import { fromBase64, leafHash, Problem, rootOfInclusion, sameBytes } from '@tildebase/nouns'
import { sha256 } from './crypto.ts'
import { type TrustedCheckpoint, trustedCheckpoint } from './trusted.ts'

/** Verifies the proof of an event like an auditor: only the signed root is trusted. */
export async function checkEvent(proof: EventProof, keys: readonly string[]): Promise<TrustedCheckpoint> {
  const checkpoint = await trustedCheckpoint(proof.checkpoint ?? '', keys, 'The proof')
  const { before, header, digest, salt, data, previous, args } = proof.entry
  const values = [data ?? '', previous ?? '', ...(args === null ? [] : [args])].join('\n')
  const isErased = data === null && previous === null && args === null
  if (salt === null ? !isErased : !sameBytes(sha256(bytesOf(salt), values), bytesOf(digest)))
    throw new Problem('damaged', 'The values of the event differ from its digest.')
  const leaf = leafHash(sha256, sha256(bytesOf(before), header, bytesOf(digest)))
  const root = rootOfInclusion(sha256, leaf, JSON.parse(header)[0] - 1, checkpoint.size, proof.proof.map(bytesOf))
  if (root === null || !sameBytes(root, checkpoint.root))
    throw new Problem('damaged', 'The event is not in the log that the checkpoint signed.')
  return checkpoint
}

function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64)
  if (bytes) return bytes
  throw new Problem('damaged', 'A hash of the proof is not base64.')
}
