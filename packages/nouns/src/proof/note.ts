import { fromBase64, toBase64 } from './base64.ts'
import type { TreeHead } from './check-proof.ts'

/** A string with signatures, in the form of C2SP signed-note. */
export interface Note {
  /** The signed text; it ends with a line break. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** One line of signature. */
export interface NoteSignature {
  readonly name: string
  /** The first four bytes, which identify the key of that name, as hexadecimal text. */
  readonly keyId: string
  readonly signature: Uint8Array<ArrayBuffer>
}

/** What a checkpoint says (C2SP tlog-checkpoint). */
export interface Checkpoint extends TreeHead {
  /** Which log: `{host}/~{tenant}`. */
  readonly origin: string
}

const MOST_SIGNATURES = 64
const LONGEST_NOTE = 65_536
const SIGNATURE = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u
const KEY_ID_LENGTH = 4

/** Parses a note; null if it is not valid. */
export function parseNote(note: string): Note | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no control character but the line break.
  if (note.length > LONGEST_NOTE || /[\x00-\x09\x0b-\x1f]/.test(note)) return null
  const end = note.lastIndexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) return null
  const lines = note.slice(end + 2, -1).split('\n')
  const signatures = lines.map(parseSignature)
  if (lines.length > MOST_SIGNATURES || signatures.includes(null)) return null
  return { text: note.slice(0, end + 1), signatures: signatures as NoteSignature[] }
}

/** Writes a note. */
export function noteText({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`
}

/** One line of signature as text, with its line break. */
export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = keyId.match(/../g)!.map((byte) => Number.parseInt(byte, 16))
  return `— ${name} ${toBase64(Uint8Array.of(...id, ...signature))}\n`
}

/** Parses a line of signature; null if it is not valid. */
export function parseSignature(line: string): NoteSignature | null {
  const [, name, base64] = SIGNATURE.exec(line) ?? []
  const bytes = base64 === undefined ? null : fromBase64(base64)
  if (name === undefined || bytes === null || bytes.length <= KEY_ID_LENGTH) return null
  return { name, keyId: hexText(bytes.slice(0, KEY_ID_LENGTH)), signature: bytes.slice(KEY_ID_LENGTH) }
}

/** The text of a checkpoint, which is signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Parses the text of a checkpoint; null if it is not valid. Further lines are ignored. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [origin = '', size = '', root = '', ...more] = text.split('\n')
  const hash = fromBase64(root)
  if (origin === '' || !/^(?:0|[1-9]\d{0,15})$/.test(size) || hash?.length !== 32) return null
  if (!Number.isSafeInteger(Number(size))) return null
  // Extension lines are not empty; the last line ends the text.
  if (more.pop() !== '' || more.includes('')) return null
  return { origin, size: Number(size), root: hash }
}

function hexText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
