import {
  type ConsistencyProof,
  type EventProof,
  noteText,
  Problem,
  type SignedCheckpoint,
  toBase64,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { wholeTree } from '../services/proof/catch-up.ts'
import { proveEvent } from '../services/proof/event-proof.ts'
import { Tree } from '../services/proof/tree.ts'
import type { TenantServices } from './create-services.ts'

/** What a tenant proves about its log to a grant. Sizes and hashes are for every key; events for those that see them. */
export class Prover {
  readonly #services: TenantServices
  readonly #engine: Engine
  readonly #grant: Grant

  constructor(services: TenantServices, grant: Grant) {
    this.#services = services
    this.#engine = services.transactor.engine
    this.#grant = grant
  }

  async checkpoint(): Promise<SignedCheckpoint> {
    const { checkpoints } = this.#services
    const { origin, size, root, note, key } = await checkpoints.current()
    const engine = this.#engine
    const lineage = checkpoints.lineage.map((one) => ({ ...one, root: toBase64(new Tree(engine, one.size).root()) }))
    const witnesses = checkpoints.reports
    return { origin, size, root: toBase64(root), note: noteText(note), key, witnesses, lineage }
  }

  /** The proof of an event, by its id or its seq. */
  event(id: string, size: number | null): Promise<EventProof> {
    return proveEvent(this.#engine, this.#services.checkpoints, this.#grant, id, size)
  }

  /** The proof that the tree of one size is the beginning of the tree of another; null is that of now. */
  async consistency(from: number, to: number | null): Promise<ConsistencyProof> {
    const whole = await wholeTree(this.#engine)
    const end = to ?? whole.size
    if (end > whole.size)
      throw new Problem('invalid_parameter', `to must be a whole number, at most ${whole.size}.`, { field: 'to' })
    if (from > end)
      throw new Problem('invalid_parameter', `from must be a whole number, at most ${end}.`, { field: 'from' })
    return { from, to: end, proof: new Tree(this.#engine, end).consistency(from).map(toBase64) }
  }
}
