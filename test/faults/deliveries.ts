import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import { Receiver } from '../receiver.ts'
import { ask } from './server.ts'

const SLOWEST_MS = 30
const PATIENCE_MS = 60_000

/** A webhook that must receive every acknowledged creation, whatever happens to the host meanwhile. */
export class Deliveries {
  readonly #receiver: Receiver
  readonly #received = new Map<string, number>()

  private constructor(receiver: Receiver, chance: Chance) {
    this.#receiver = receiver
    // Some answers take a while, so that a kill comes while a delivery is in flight.
    receiver.answer(async ({ body }, response) => {
      await pause(chance.next() * SLOWEST_MS)
      const { entityId } = body
      this.#received.set(entityId, (this.#received.get(entityId) ?? 0) + 1)
      response.writeHead(204).end()
    })
  }

  static async start(url: string, chance: Chance): Promise<Deliveries> {
    const receiver = await Receiver.start()
    const draft = { url: receiver.url, events: ['Contact.created'] }
    const reply = await ask(url, 'POST', '/~acme/webhooks', draft)
    if (reply?.status !== 201) throw new Error(`The webhook was refused: ${JSON.stringify(reply)}`)
    return new Deliveries(receiver, chance)
  }

  /** How many creations arrived, and how many of them more than once. */
  get counts(): { delivered: number; repeated: number } {
    const repeated = [...this.#received.values()].filter((count) => count > 1).length
    return { delivered: this.#received.size, repeated }
  }

  /** Waits for the deliveries of these creations; returns those that did not arrive. */
  async missing(ids: readonly string[]): Promise<string[]> {
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      const missing = ids.filter((id) => !this.#received.has(id))
      if (missing.length === 0 || Date.now() > end)
        return missing.map((id) => `the creation of ${id} was not delivered`)
      await pause(20)
    }
  }

  stop(): Promise<void> {
    return this.#receiver.stop()
  }
}
