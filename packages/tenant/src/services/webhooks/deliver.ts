import type { Engine } from '../../engine/engine.ts'
import { WEBHOOK_DEFAULTS } from '../../engine/options.ts'
import type { Job } from '../../engine/scheduler.ts'
import {
  type Attempt,
  type Delivery,
  dropDelivery,
  forgetDone,
  nextDelivery,
  oldestDone,
  type Queue,
} from '../../store/outgoing/outbox.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { recordAttempts } from './attempts.ts'
import { EventTexts } from './event-texts.ts'
import { enqueueHistory } from './history.ts'
import { Lane, QUEUES } from './lane.ts'
import { isSuccess, send } from './send.ts'
import { type Subscription, subscriptions } from './subscription.ts'

/** Tries at once per engine. The second half is for webhooks that have none in progress. */
const MOST_IN_FLIGHT = 256
/** Deliveries that may be sent again after a crash, in exchange for as many writes saved. */
const MOST_UNWRITTEN = 128
const LONGEST_UNWRITTEN = 1_000
const STUCK_FOR = 5_000

/** Sends what is due. `run` starts it and returns: a receiver that hangs delays only itself. */
export function deliveryJob(transactor: Transactor): Job {
  const deliveries = new Deliveries(transactor)
  return { due: () => deliveries.due(), run: () => deliveries.run() }
}

/** Forgets the records of finished deliveries after their time. */
export function cleanupJob(engine: Engine): Job {
  const { keepMs } = engine.options.webhooks ?? WEBHOOK_DEFAULTS
  return {
    due: () => {
      const oldest = oldestDone(engine.sql)
      return oldest === null ? null : oldest + keepMs
    },
    run: () => engine.commit(() => forgetDone(engine.sql, engine.ports.clock.now() - keepMs)),
  }
}

class Deliveries {
  readonly #transactor: Transactor
  readonly #engine: Engine
  readonly #texts: EventTexts
  readonly #lanes = new Map<string, Lane>()
  #inFlight = 0

  constructor(transactor: Transactor) {
    this.#transactor = transactor
    this.#engine = transactor.engine
    this.#texts = new EventTexts(transactor.engine)
  }

  /** When something is due that is not in progress already. */
  due(): number | null {
    // With no room left, whatever ends next continues with all that waits.
    if (this.#inFlight >= MOST_IN_FLIGHT) return null
    let earliest: number | null = null
    for (const subscription of subscriptions(this.#engine).values()) {
      const due = this.#dueOf(subscription)
      if (due !== null && (earliest === null || due < earliest)) earliest = due
    }
    return earliest
  }

  run(): void {
    for (const id of subscriptions(this.#engine).keys()) this.#fill(id)
  }

  #dueOf({ id, position }: Subscription): number | null {
    const lane = this.#lanes.get(id)
    if (lane && lane.stuckUntil > 0) return lane.stuckUntil
    if (lane && !this.#hasRoom(lane)) return null
    // A queue with a delivery in progress continues automatically after it.
    const free = QUEUES.filter((queue) => !lane?.flying[queue])
    if (position !== null && free.includes('new')) return 0
    const dues = free.map((queue) => nextDelivery(this.#engine.sql, id, queue)).filter((due) => due !== null)
    return dues.length > 0 ? Math.min(...dues) : null
  }

  /** Starts the next new delivery of a webhook, and next to it the next retry, unless they are in progress. */
  #fill(id: string): void {
    const engine = this.#engine
    if (engine.scheduler.isStill || !subscriptions(engine).has(id)) return void this.#lanes.get(id)?.forget()
    const lane = this.#laneOf(id)
    if (lane.stuckUntil > 0 && !this.#write(lane)) return
    for (const queue of QUEUES) {
      if (lane.flying[queue] || !this.#hasRoom(lane)) continue
      const delivery = lane.take(engine, queue) ?? (queue === 'new' ? this.#fromHistory(lane) : undefined)
      if (delivery) engine.scheduler.track(this.#deliver(lane, queue, delivery))
    }
    if (lane.mustWrite) this.#write(lane)
  }

  /** The next delivery out of the history that the webhook asked for. */
  #fromHistory(lane: Lane): Delivery | undefined {
    const engine = this.#engine
    const subscription = subscriptions(engine).get(lane.webhook)
    if (!subscription || subscription.position === null) return undefined
    // A long stretch without anything to send: others have their turn before the next.
    if (!enqueueHistory(engine, subscription)) engine.ports.alarm.wakeAt(engine.ports.clock.now())
    return lane.take(engine, 'new')
  }

  async #deliver(lane: Lane, queue: Queue, delivery: Delivery): Promise<void> {
    lane.flying[queue] = true
    this.#inFlight++
    const attempt = await this.#attempt(lane, delivery)
    const wasFull = this.#inFlight >= MOST_IN_FLIGHT / 2
    lane.flying[queue] = false
    this.#inFlight--
    // The file is closed: what came of this try cannot be written, so it will be made again.
    if (this.#engine.scheduler.isClosed) return
    if (attempt) this.#note(lane, delivery, attempt)
    else lane.release([delivery])
    if (wasFull) this.run()
    else this.#fill(lane.webhook)
    // While one delivery follows the other, nothing has come up that was not booked before.
    if (!lane.isFlying || !attempt || !isSuccess(attempt.status)) this.#bookNext(lane.webhook)
  }

  async #attempt(lane: Lane, delivery: Delivery): Promise<Attempt | null> {
    const subscription = subscriptions(this.#engine).get(lane.webhook)
    if (!subscription) return null
    try {
      const attempt = await send(this.#engine, this.#texts, subscription, delivery)
      if (attempt === null) this.#engine.commit(() => dropDelivery(this.#engine.sql, delivery.id))
      return attempt
    } catch (reason) {
      this.#stick(lane, reason)
      return null
    }
  }

  #note(lane: Lane, delivery: Delivery, attempt: Attempt): void {
    const now = this.#engine.ports.clock.now()
    lane.note({ delivery, attempt }, now)
    const mayWait =
      isSuccess(attempt.status) && lane.unwritten.length < MOST_UNWRITTEN && !this.#engine.scheduler.isStill
    if (!mayWait || now - lane.unwrittenSince >= LONGEST_UNWRITTEN) this.#write(lane)
  }

  /** Writes down what came of tries. */
  #write(lane: Lane): boolean {
    try {
      recordAttempts(this.#transactor, lane.unwritten)
    } catch (reason) {
      this.#stick(lane, reason)
      return false
    }
    lane.stuckUntil = 0
    lane.written()
    return true
  }

  /** The disk refused: nothing more is sent for a while, since what is delivered could not be marked as such. */
  #stick(lane: Lane, reason: unknown): void {
    const { ports, options, slug } = this.#engine
    lane.stuckUntil = ports.clock.now() + STUCK_FOR
    ports.alarm.wakeAt(lane.stuckUntil)
    options.log?.('error', `Deliveries of ${lane.webhook} are blocked`, { tenant: slug, reason: String(reason) })
  }

  #bookNext(id: string): void {
    const subscription = subscriptions(this.#engine).get(id)
    const due = subscription ? this.#dueOf(subscription) : null
    if (due !== null) this.#engine.ports.alarm.wakeAt(due)
    if (!subscription && !this.#lanes.get(id)?.isFlying) this.#lanes.delete(id)
  }

  #hasRoom(lane: Lane): boolean {
    return this.#inFlight < (lane.isFlying ? MOST_IN_FLIGHT / 2 : MOST_IN_FLIGHT)
  }

  #laneOf(id: string): Lane {
    const known = this.#lanes.get(id)
    if (known) return known
    const lane = new Lane(id)
    this.#lanes.set(id, lane)
    return lane
  }
}
