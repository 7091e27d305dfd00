import { readFile } from 'node:fs/promises'
import {
  type Checkpoint,
  fromBase64,
  type Note,
  Problem,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  toBase64,
  type VerifierKey,
  validSignatures,
} from '@tildebase/nouns'
import { UsageError } from '../parse/usage-error.ts'
import { sha256, verifyEd25519 } from './crypto.ts'

/** A checkpoint whose signature was checked. */
export interface TrustedCheckpoint extends Checkpoint {
  readonly note: Note
  /** The public key that signed it, as base64. */
  readonly key: string
}

/** The public keys for verification: from a file, or as published by the service. */
export async function knownKeys(file: string | undefined, url: string): Promise<readonly string[]> {
  const text = await (file === undefined ? publishedKeys(url) : readFile(file, 'utf8'))
  const key = parseVerifierKey(sha256, text.trim())
  if (key) return [toBase64(key.publicKey)]
  try {
    return JSON.parse(text).keys.map(({ publicKey }: { publicKey: string }) => publicKey)
  } catch {
    throw new UsageError(`${file ?? url} contains no public keys. Save the answer of /.well-known/tilde-keys.`)
  }
}

async function publishedKeys(url: string): Promise<string> {
  const response = await fetch(`${url}/.well-known/tilde-keys`).catch((reason) => {
    throw new Problem('unreachable', `${url} cannot be reached (${reason.cause?.code ?? reason.message}).`)
  })
  return response.text()
}

/** Reads a checkpoint and checks that one of the keys signed it. */
export async function trustedCheckpoint(
  text: string,
  keys: readonly string[],
  what: string,
): Promise<TrustedCheckpoint> {
  const note = parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  if (!note || !checkpoint) throw new Problem('damaged', `${what} is not a signed checkpoint.`)
  const { origin } = checkpoint
  const known = keys.map((key): VerifierKey => ({ name: origin, use: 'note', publicKey: fromBase64(key)! }))
  const valid = await validSignatures(sha256, verifyEd25519, note, known)
  if (valid === null) throw new Problem('damaged', `${what} has an invalid signature.`)
  if (valid.length === 0) throw new Problem('damaged', `${what} is not signed by a known key.`)
  return { ...checkpoint, note, key: toBase64(valid[0]!.key.publicKey) }
}
