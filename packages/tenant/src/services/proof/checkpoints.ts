import type { WitnessReport } from '@tildebase/nouns'
import {
  checkpointText,
  keyIdOf,
  type NoteSignature,
  Problem,
  sameBytes,
  type VerifierKey,
  verifierKeyText,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { wholeTree } from './catch-up.ts'
import { cosign } from './cosign.ts'
import {
  type Ancestor,
  ancestors,
  isCut,
  originOf,
  type SignedCheckpoint,
  storeCheckpoint,
  storedCheckpoint,
} from './stored-checkpoint.ts'
import { Tree } from './tree.ts'

/** Witnesses are not asked more often than this for one tenant. */
const ROUND_MS = 10_000

/** A checkpoint that was signed now, and the keys that it can be checked with. */
export interface CurrentCheckpoint extends SignedCheckpoint {
  /** The key of the service, as C2SP signed-note writes it. */
  readonly key: string
  /** Those of the witnesses that are asked. */
  readonly witnesses: readonly string[]
}

/** The checkpoints of a tenant: signed by the service, and cosigned by its witnesses. */
export class Checkpoints {
  readonly #engine: Engine
  #round: Promise<void> | null = null
  #lastRound = Number.NEGATIVE_INFINITY
  #reports: readonly WitnessReport[] = []

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** What became of the last requests to witnesses. */
  get reports(): readonly WitnessReport[] {
    return this.#reports
  }

  /** The names that this log was signed under before. */
  get lineage(): readonly Ancestor[] {
    return ancestors(this.#engine)
  }

  /** The whole log, signed now. Witnesses that have not cosigned it are asked first, unless they were asked just now. */
  async current(): Promise<CurrentCheckpoint> {
    const signed = await this.#signed()
    const { witnesses = [], clock } = this.#engine.ports
    if (witnesses.length === 0 || signed.size === 0) return signed
    if (this.#round === null && clock.now() - this.#lastRound >= ROUND_MS) {
      this.#lastRound = clock.now()
      this.#round = this.#askWitnesses(signed).finally(() => {
        this.#round = null
      })
    }
    await this.#round
    const stored = storedCheckpoint(this.#engine)
    return stored?.note.text === signed.note.text ? { ...signed, note: stored.note } : signed
  }

  async #askWitnesses(signed: SignedCheckpoint): Promise<void> {
    const { reports, note } = await cosign(this.#engine, signed)
    this.#reports = reports
    storeCheckpoint(this.#engine, { ...signed, note })
  }

  async #signed(): Promise<CurrentCheckpoint> {
    const { ports } = this.#engine
    const { sha256 } = ports.seal
    if (!ports.signer) throw new Problem('not_supported', 'This service has no signing key: set TILDE_SIGNING_KEY.')
    const tree = await wholeTree(this.#engine)
    const checkpoint = { origin: originOf(this.#engine), size: tree.size, root: tree.root() }
    const stored = this.#consistentCheckpoint(checkpoint.origin)
    const text = checkpointText(checkpoint)
    const { publicKey, signature } = await ports.signer.sign(text)
    const key: VerifierKey = { name: checkpoint.origin, use: 'note', publicKey }
    const line: NoteSignature = { name: key.name, keyId: keyIdOf(sha256, key), signature }
    // The same text under the same key may have cosignatures already.
    const isKept = stored?.note.text === text && stored.note.signatures.some(({ keyId }) => keyId === line.keyId)
    const signed = { ...checkpoint, note: isKept ? stored.note : { text, signatures: [line] } }
    if (!isKept) storeCheckpoint(this.#engine, signed)
    const witnesses = (ports.witnesses ?? []).map((one) => verifierKeyText(sha256, { ...one, use: 'cosignature' }))
    return { ...signed, key: verifierKeyText(sha256, key), witnesses }
  }

  /** The last checkpoint of this name, which the log must still contain: nothing is signed that contradicts it. */
  #consistentCheckpoint(origin: string): SignedCheckpoint | null {
    const engine = this.#engine
    const stored = storedCheckpoint(engine)
    if (stored?.origin !== origin || isCut(engine)) return null
    if (stored.size <= engine.head.seq && sameBytes(new Tree(engine, stored.size).root(), stored.root)) return stored
    throw new Problem(
      'unavailable',
      `The log of ${engine.slug} does not match its last checkpoint (size ${stored.size}), so no checkpoint is signed. Run tilde verify.`,
    )
  }
}
