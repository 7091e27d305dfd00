import {
  type Checkpoint,
  cosignatureBytes,
  cosignedText,
  fromBase64,
  isConsistent,
  keyIdOf,
  type Note,
  noteText,
  parseCheckpoint,
  parseNote,
  sameBytes,
  signatureLine,
  type VerifierKey,
  validSignatures,
  verifierKeyText,
} from '@tildebase/nouns'
import type { HttpResponse } from '../../doors/http.ts'
import { systemSeal } from '../ports.ts'
import type { WitnessedService } from '../settings/proof-settings.ts'
import { publicKeyOf, type Seed, signWith, verifyEd25519 } from './signer.ts'

/** What a witness remembers of a log: the last checkpoint that it cosigned. */
export interface Seen {
  readonly size: number
  readonly root: Uint8Array
}

/** Where a witness remembers. What it wrote must be durable when `write` returns. */
export interface WitnessMemory {
  read(origin: string): Seen | null
  write(origin: string, seen: Seen): void
  /** Keeps the note with the cosignature, for those who monitor. */
  keep(origin: string, note: string): void
  /** The note that was kept, by the SHA-256 of the origin in hexadecimal. */
  noteOf(originHash: string): string | null
}

/** The bytes of a request `add-checkpoint` at most. */
export const LONGEST_REQUEST = 65_536
const MOST_HASHES = 63
const { sha256 } = systemSeal

/** Cosigns checkpoints of other services, each of which must continue the last one (C2SP tlog-witness). */
export class WitnessService {
  readonly name: string
  readonly #seed: Seed
  readonly #services: readonly WitnessedService[]
  readonly #memory: WitnessMemory
  readonly #now: () => number

  constructor(
    name: string,
    seed: Seed,
    services: readonly WitnessedService[],
    memory: WitnessMemory,
    now: () => number = Date.now,
  ) {
    this.name = name
    this.#seed = seed
    this.#services = services
    this.#memory = memory
    this.#now = now
  }

  /** The key that cosigns, as others set it in TILDE_WITNESSES. */
  async key(): Promise<string> {
    return verifierKeyText(sha256, await this.#key())
  }

  /** Answers `add-checkpoint`. */
  async add(body: Uint8Array): Promise<HttpResponse> {
    const request = body.length > LONGEST_REQUEST ? null : parseRequest(new TextDecoder().decode(body))
    if (request === null) return answer(400, 'This is not an add-checkpoint request.\n')
    const { checkpoint, note, old, proof } = request
    const keys = this.#trusted(checkpoint.origin)
    if (keys.length === 0) return answer(404, 'This log is unknown here.\n')
    const signatures = await validSignatures(sha256, verifyEd25519, note, keys)
    if (signatures === null || signatures.length === 0) return answer(403, 'There is no signature of a trusted key.\n')
    if (old > checkpoint.size) return answer(400, 'The old size is larger than the new one.\n')
    // From here to the write nothing waits, so that no other request comes in between.
    const seen = this.#memory.read(checkpoint.origin)
    if (old !== (seen?.size ?? 0)) return answer(409, `${seen?.size ?? 0}\n`, 'text/x.tlog.size')
    const before = seen ?? { size: 0, root: sha256('') }
    const isEmptyRoot = checkpoint.size > 0 || sameBytes(checkpoint.root, sha256(''))
    if (!isEmptyRoot || !isConsistent(sha256, before, checkpoint, proof))
      return answer(422, 'The checkpoint does not extend the one that was cosigned before.\n')
    this.#memory.write(checkpoint.origin, { size: checkpoint.size, root: checkpoint.root })
    const line = await this.#cosign(note.text)
    this.#memory.keep(
      checkpoint.origin,
      `${noteText({ ...note, signatures: signatures.map((one) => one.line) })}${line}`,
    )
    return answer(200, line)
  }

  /** The last checkpoint of a log that was cosigned, by the hash of its origin. */
  checkpoint(originHash: string): HttpResponse {
    const note = this.#memory.noteOf(originHash)
    return note === null ? answer(404, 'No checkpoint of this log was cosigned here.\n') : answer(200, note)
  }

  /** The keys that may sign for an origin: those of the service that it belongs to. */
  #trusted(origin: string): VerifierKey[] {
    return this.#services
      .filter(({ host }) => origin.startsWith(`${host}/~`))
      .map(({ publicKey }) => ({ name: origin, use: 'note', publicKey }))
  }

  async #cosign(text: string): Promise<string> {
    const seconds = Math.floor(this.#now() / 1_000)
    const { signature } = await signWith(this.#seed, cosignedText(text, seconds))
    const keyId = keyIdOf(sha256, await this.#key())
    return signatureLine({ name: this.name, keyId, signature: cosignatureBytes(seconds, signature) })
  }

  async #key(): Promise<VerifierKey> {
    return { name: this.name, use: 'cosignature', publicKey: await publicKeyOf(this.#seed) }
  }
}

interface AddRequest {
  readonly old: number
  readonly proof: readonly Uint8Array[]
  readonly note: Note
  readonly checkpoint: Checkpoint
}

function parseRequest(text: string): AddRequest | null {
  const end = text.indexOf('\n\n')
  const [first = '', ...hashes] = text.slice(0, end).split('\n')
  const [, old] = /^old (0|[1-9]\d{0,14})$/.exec(first) ?? []
  const proof = hashes.map(fromBase64)
  const note = parseNote(text.slice(end + 2))
  const checkpoint = note && parseCheckpoint(note.text)
  if (end === -1 || old === undefined || !note || !checkpoint) return null
  if (proof.length > MOST_HASHES || proof.includes(null)) return null
  return { old: Number(old), proof: proof as Uint8Array[], note, checkpoint }
}

function answer(status: number, text: string, type = 'text/plain; charset=utf-8'): HttpResponse {
  return { status, headers: { 'content-type': type }, body: text }
}
