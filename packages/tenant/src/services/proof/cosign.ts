import type { WitnessReport } from '@tildebase/nouns'
import {
  isoOf,
  type Note,
  noteText,
  parseSignature,
  toBase64,
  type ValidSignature,
  type VerifierKey,
  validSignatures,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { OutboundAnswer, Witness } from '../../ports.ts'
import { getMeta, setMeta } from '../../store/meta.ts'
import type { SignedCheckpoint } from './stored-checkpoint.ts'
import { Tree } from './tree.ts'

/** Asks every witness that has not cosigned a checkpoint yet. Returns the note with what came back, and what became of each. */
export async function cosign(
  engine: Engine,
  signed: SignedCheckpoint,
): Promise<{ readonly note: Note; readonly reports: readonly WitnessReport[] }> {
  const { witnesses = [] } = engine.ports
  const results = await Promise.all(witnesses.map((witness) => ask(engine, witness, signed)))
  const lines = results.flatMap(({ valid }) =>
    valid && !signed.note.signatures.includes(valid.line) ? [valid.line] : [],
  )
  return {
    note: { ...signed.note, signatures: [...signed.note.signatures, ...lines] },
    reports: results.map(({ report }) => report),
  }
}

interface Result {
  readonly valid: ValidSignature | null
  readonly report: WitnessReport
}

async function ask(engine: Engine, witness: Witness, signed: SignedCheckpoint): Promise<Result> {
  const known = await cosignatureIn(engine, witness, signed.note)
  if (known) return { valid: known, report: reportOf(witness, signed.size, known) }
  const last = Number(getMeta(engine.sql, metaKey(witness)) ?? 0)
  let answer = await submit(engine, witness, signed, Math.min(last, signed.size))
  // The witness knows another size, of before a restore for example: it says which.
  const theirs = 'status' in answer && answer.status === 409 ? sizeIn(answer.text) : null
  if (theirs !== null && theirs <= signed.size) answer = await submit(engine, witness, signed, theirs)
  const valid = await acceptedIn(engine, witness, signed.note, answer)
  if (valid === null) {
    const error = failureOf(answer, theirs, signed.size)
    engine.options.log?.('warn', `A witness did not cosign ${signed.origin}`, { witness: witness.name, reason: error })
    return { valid, report: { name: witness.name, size: last, cosignedAt: null, error } }
  }
  setMeta(engine.sql, metaKey(witness), String(signed.size))
  return { valid, report: reportOf(witness, signed.size, valid) }
}

/** One request `add-checkpoint`: the size that the witness knows, what leads from there to here, and the checkpoint. */
function submit(engine: Engine, witness: Witness, signed: SignedCheckpoint, old: number): Promise<OutboundAnswer> {
  const proof = new Tree(engine, signed.size).consistency(old)
  const hashes = proof.map((hash) => `${toBase64(hash)}\n`).join('')
  const own = { ...signed.note, signatures: signed.note.signatures.filter(({ name }) => name === signed.origin) }
  return witness.submit(`old ${old}\n${hashes}\n${noteText(own)}`)
}

async function acceptedIn(
  engine: Engine,
  witness: Witness,
  note: Note,
  answer: OutboundAnswer,
): Promise<ValidSignature | null> {
  if (!('status' in answer) || answer.status !== 200) return null
  const signatures = (answer.text ?? '').split('\n').flatMap((line) => parseSignature(line) ?? [])
  return cosignatureIn(engine, witness, { text: note.text, signatures })
}

async function cosignatureIn({ ports }: Engine, witness: Witness, note: Note): Promise<ValidSignature | null> {
  const key: VerifierKey = { name: witness.name, use: 'cosignature', publicKey: witness.publicKey }
  return (await validSignatures(ports.seal.sha256, ports.signer!.verify, note, [key]))?.[0] ?? null
}

function reportOf({ name }: Witness, size: number, { seconds }: ValidSignature): WitnessReport {
  return { name, size, cosignedAt: isoOf(seconds! * 1_000), error: null }
}

function failureOf(answer: OutboundAnswer, theirs: number | null, size: number): string {
  if (!('status' in answer)) return answer.error
  if (theirs !== null && theirs > size)
    return `The witness has seen ${theirs} events, but this log has ${size}: it became shorter.`
  if (answer.status === 422) return 'The witness has seen a different history of this log.'
  if (answer.status === 404) return 'The witness does not know this log.'
  if (answer.status === 403) return 'The witness does not trust the key of this service.'
  if (answer.status === 200) return 'The witness answered without a valid cosignature.'
  return `The witness answered with status ${answer.status}.`
}

function sizeIn(text: string | undefined): number | null {
  return /^\d{1,15}\n?$/.test(text ?? '') ? Number(text) : null
}

function metaKey({ name }: Witness): string {
  return `proof.witness.${name}`
}
