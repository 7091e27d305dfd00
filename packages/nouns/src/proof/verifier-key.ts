import { fromBase64, toBase64 } from './base64.ts'
import type { Sha256 } from './merkle.ts'
import type { Note, NoteSignature } from './note.ts'

/** What a key signs: notes, or checkpoints as a witness (C2SP tlog-cosignature). */
type KeyUse = 'note' | 'cosignature'

/** A public Ed25519 key under the name that it signs with. */
export interface VerifierKey {
  readonly name: string
  readonly use: KeyUse
  readonly publicKey: Uint8Array<ArrayBuffer>
}

/** Whether an Ed25519 signature of a message is valid. */
export type VerifySignature = (
  publicKey: Uint8Array<ArrayBuffer>,
  message: string,
  signature: Uint8Array<ArrayBuffer>,
) => boolean | Promise<boolean>

const TYPES: { readonly [use in KeyUse]: number } = { note: 0x01, cosignature: 0x04 }
const TIME_LENGTH = 8
const KEY_LENGTH = 32

/** The id of a key, as hexadecimal text. */
export function keyIdOf(sha256: Sha256, { name, use, publicKey }: VerifierKey): string {
  const digest = sha256(`${name}\n`, Uint8Array.of(TYPES[use]), publicKey)
  return Array.from(digest.slice(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A key as text: `name+id+key`. */
export function verifierKeyText(sha256: Sha256, key: VerifierKey): string {
  return `${key.name}+${keyIdOf(sha256, key)}+${toBase64(Uint8Array.of(TYPES[key.use], ...key.publicKey))}`
}

/** Parses a key; null if it is not valid or of an unknown kind. */
export function parseVerifierKey(sha256: Sha256, text: string): VerifierKey | null {
  const [, name, id, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = base64 === undefined ? null : fromBase64(base64)
  const use = (Object.keys(TYPES) as KeyUse[]).find((one) => TYPES[one] === bytes?.[0])
  if (name === undefined || bytes === null || use === undefined || bytes.length !== 1 + KEY_LENGTH) return null
  const key = { name, use, publicKey: bytes.slice(1) }
  return keyIdOf(sha256, key) === id ? key : null
}

/** What a witness signs: the text of the checkpoint under the time, in seconds since 1970. */
export function cosignedText(text: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** The time and the signature of a cosignature as the bytes of its line. */
export function cosignatureBytes(seconds: number, signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TIME_LENGTH + signature.length)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds))
  bytes.set(signature, TIME_LENGTH)
  return bytes
}

/** A signature of a note that was found valid. */
export interface ValidSignature {
  readonly key: VerifierKey
  readonly line: NoteSignature
  /** When a witness signed, in seconds since 1970; null for other signatures. */
  readonly seconds: number | null
}

/**
 * The signatures of a note by keys that are trusted. Lines of other keys are ignored; null if a line of a trusted key
 * is not valid: such a note must not be used.
 */
export async function validSignatures(
  sha256: Sha256,
  verify: VerifySignature,
  { text, signatures }: Note,
  keys: readonly VerifierKey[],
): Promise<ValidSignature[] | null> {
  const valid: ValidSignature[] = []
  for (const key of keys) {
    const id = keyIdOf(sha256, key)
    for (const line of signatures.filter(({ name, keyId }) => name === key.name && keyId === id)) {
      const seconds = key.use === 'cosignature' ? timeOf(line.signature) : null
      const signature = seconds === null ? line.signature : line.signature.slice(TIME_LENGTH)
      const message = seconds === null ? text : cosignedText(text, seconds)
      if (signature.length !== 64 || !(await verify(key.publicKey, message, signature))) return null
      valid.push({ key, line, seconds })
    }
  }
  return valid
}

function timeOf(bytes: Uint8Array<ArrayBuffer>): number {
  return bytes.length < TIME_LENGTH ? 0 : Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0))
}
