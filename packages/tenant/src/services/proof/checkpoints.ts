import { checkpointText, keyIdOf, type NoteSignature, Problem, sameBytes } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { wholeTree } from './catch-up.ts'
import { cosign, type WitnessReport } from './cosign.ts'
import {
  type Ancestor,
  ancestors,
  originOf,
  type SignedCheckpoint,
  storeCheckpoint,
  storedCheckpoint,
} from './stored-checkpoint.ts'
import { Tree } from './tree.ts'

/** Witnesses are not asked more often than this for one tenant. */
const ROUND_MS = 10_000

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
  async current(): Promise<SignedCheckpoint> {
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
    return stored?.note.text === signed.note.text ? stored : signed
  }

  async #askWitnesses(signed: SignedCheckpoint): Promise<void> {
    const { reports, note } = await cosign(this.#engine, signed)
    this.#reports = reports
    storeCheckpoint(this.#engine, { ...signed, note })
  }

  async #signed(): Promise<SignedCheckpoint> {
    const { ports } = this.#engine
    if (!ports.signer) throw new Problem('not_supported', 'This service has no key to sign with: set TILDE_SIGNING_KEY.')
    const tree = await wholeTree(this.#engine)
    const checkpoint = { origin: originOf(this.#engine), size: tree.size, root: tree.root() }
    const stored = this.#consistentCheckpoint(checkpoint.origin)
    const text = checkpointText(checkpoint)
    const { publicKey, signature } = await ports.signer.sign(text)
    const keyId = keyIdOf(ports.seal.sha256, { name: checkpoint.origin, use: 'note', publicKey })
    const line: NoteSignature = { name: checkpoint.origin, keyId, signature }
    // The same text under the same key has cosignatures already.
    if (stored?.note.text === text && stored.note.signatures.some((one) => one.keyId === keyId)) return stored
    const signed = { ...checkpoint, note: { text, signatures: [line] } }
    storeCheckpoint(this.#engine, signed)
    return signed
  }

  /** The last checkpoint of this name, which the log must still contain: nothing is signed that contradicts it. */
  #consistentCheckpoint(origin: string): SignedCheckpoint | null {
    const engine = this.#engine
    const stored = storedCheckpoint(engine)
    if (stored?.origin !== origin) return null
    if (stored.size <= engine.head.seq && sameBytes(new Tree(engine, stored.size).root(), stored.root)) return stored
    throw new Problem(
      'unavailable',
      `The log of ${engine.slug} does not contain what its last checkpoint signed (size ${stored.size}). Nothing is signed until it does: run tilde verify.`,
    )
  }
}
