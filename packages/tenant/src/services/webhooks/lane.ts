import type { Engine } from '../../engine/engine.ts'
import { type Delivery, type DeliveryState, dueDeliveries, type Queue } from '../../store/outgoing/outbox.ts'
import type { AttemptResult } from './attempts.ts'

const PAGE = 50
export const QUEUES: readonly Queue[] = ['new', 'retry']

/** One webhook's deliveries in progress. */
export class Lane {
  readonly webhook: string
  /** Whether a delivery of the queue is being sent: one after the other, in order, and retries in addition to the new ones. */
  readonly flying = { new: false, retry: false }
  /** What came of tries and is not written down yet, of which queues that was, and since when. */
  readonly #unwritten: AttemptResult[] = []
  readonly #unwrittenOf = new Set<DeliveryState>()
  unwrittenSince = 0
  /** No more is sent before this time: what came of the last could not be written down. */
  stuckUntil = 0
  readonly #waiting: { new: Delivery[]; retry: Delivery[] } = { new: [], retry: [] }
  /** Ids that were taken from the outbox and not written back. */
  readonly #taken = new Set<number>()

  constructor(webhook: string) {
    this.webhook = webhook
  }

  get isFlying(): boolean {
    return this.flying.new || this.flying.retry
  }

  /** Whether something unwritten still is in the outbox as due, in a queue where nothing is being sent. */
  get mustWrite(): boolean {
    return QUEUES.some((queue) => this.#unwrittenOf.has(queue) && !this.flying[queue])
  }

  get unwritten(): readonly AttemptResult[] {
    return this.#unwritten
  }

  /** Keeps what came of a try until it is written down. */
  note(outcome: AttemptResult, now: number): void {
    if (this.#unwritten.length === 0) this.unwrittenSince = now
    this.#unwritten.push(outcome)
    this.#unwrittenOf.add(outcome.delivery.state)
  }

  /** All of it has been written down. */
  written(): void {
    this.release(this.#unwritten.splice(0).map(({ delivery }) => delivery))
    this.#unwrittenOf.clear()
  }

  /** The next delivery of a queue that is due, or undefined. */
  take(engine: Engine, queue: Queue): Delivery | undefined {
    const waiting = this.#waiting[queue]
    if (waiting.length === 0) {
      const limit = PAGE + this.#taken.size
      const due = dueDeliveries(engine.sql, this.webhook, queue, engine.ports.clock.now(), limit)
      for (const delivery of due) {
        if (this.#taken.has(delivery.id)) continue
        this.#taken.add(delivery.id)
        waiting.push(delivery)
      }
    }
    return waiting.shift()
  }

  /** Lets go of deliveries that have been written back. */
  release(deliveries: readonly Delivery[]): void {
    for (const { id } of deliveries) this.#taken.delete(id)
  }

  /** Forgets what was read ahead: it is in the outbox, and may have changed there. */
  forget(): void {
    for (const queue of QUEUES) this.release(this.#waiting[queue].splice(0))
  }
}
