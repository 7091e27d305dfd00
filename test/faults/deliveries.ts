import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import { Receiver } from '../receiver.ts'
import { ask, WEBHOOKS } from './server.ts'

const SLOWEST_MS = 30
/** How long no delivery may come before the missing ones are given up. */
const PATIENCE_MS = 60_000
/** How long the next delivery is waited for. */
const NEXT_MS = 5_000
/** The first attempt of a delivery, and its retries. */
const MOST_ATTEMPTS = 1 + WEBHOOKS.TILDE_WEBHOOK_RETRIES.split(',').length
/** Deliveries that may be sent again after a crash: the service writes down 128 at once, and two are in flight. */
const MOST_REPEATED = 130

/** What the receiver knows of an event. */
interface Known {
  /** The life of the host in which it came first. */
  readonly since: number
  /** The last life of the host in which it came. */
  life: number
  came: number
  /** How often it was answered while its sender was alive. */
  answered: number
}

/**
 * A webhook that must receive every event of the log, whatever happens to the host meanwhile. A delivery whose sender
 * dies before the answer does not count: a host that had marked it as delivered would not send it again.
 */
export class Deliveries {
  readonly #receiver: Receiver
  readonly #events = new Map<string, Known>()
  readonly #faults: string[] = []
  #life = 0
  #repeated = 0
  #lastCame = Date.now()
  #waiting: (() => void)[] = []

  private constructor(receiver: Receiver, chance: Chance) {
    this.#receiver = receiver
    receiver.answer(async ({ body }, response) => {
      const known = this.#note(body.id)
      // Some answers take a while, so that a kill comes while a delivery is in flight.
      await pause(chance.next() * SLOWEST_MS)
      if (response.destroyed) return
      known.answered++
      response.writeHead(204).end()
    })
  }

  static async start(url: string, chance: Chance): Promise<Deliveries> {
    const receiver = await Receiver.start()
    const draft = { url: receiver.url, events: ['Contact.*'] }
    const reply = await ask(url, 'POST', '/~acme/webhooks', draft)
    if (reply?.status !== 201) throw new Error(`The webhook was refused: ${JSON.stringify(reply)}`)
    return new Deliveries(receiver, chance)
  }

  /** How many events were received, and how many of them more than once. */
  get counts(): { delivered: number; repeated: number } {
    const answered = [...this.#events.values()].map((known) => known.answered)
    return {
      delivered: answered.filter((count) => count > 0).length,
      repeated: answered.filter((count) => count > 1).length,
    }
  }

  /** Waits until the next delivery is in flight; for a while only, because the writers may have ended. */
  async next(): Promise<void> {
    const came = new Promise<void>((done) => this.#waiting.push(done))
    await Promise.race([came, pause(NEXT_MS, undefined, { ref: false })])
  }

  /** The host has been killed: what is sent from now on comes from its next life. */
  killed(): void {
    this.#life++
    this.#repeated = 0
  }

  /** Waits for the deliveries of all events in the log; returns what was not received, or too often. */
  async check(url: string): Promise<string[]> {
    const ids = await contactEvents(url)
    const missing = () => ids.filter((id) => !this.#events.get(id)?.answered)
    this.#lastCame = Date.now()
    while (missing().length > 0 && Date.now() - this.#lastCame < PATIENCE_MS) await pause(20)
    return [...this.#faults, ...missing().map((id) => `the event ${id} was not delivered`)]
  }

  stop(): Promise<void> {
    return this.#receiver.stop()
  }

  #note(id: string): Known {
    const life = this.#life
    const known = this.#events.get(id) ?? { since: life, life, came: 0, answered: 0 }
    this.#events.set(id, known)
    this.#lastCame = Date.now()
    for (const done of this.#waiting.splice(0)) done()
    known.came++
    // A kill forgets one attempt at most: one in flight, or one that was answered and not written down yet.
    if (known.came > MOST_ATTEMPTS + life - known.since)
      this.#faults.push(`the event ${id} was sent ${known.came} times, in ${life - known.since + 1} lives of the host`)
    if (known.life < life && known.answered > 0 && ++this.#repeated > MOST_REPEATED)
      this.#faults.push(`the event ${id} was sent again: the host has forgotten more than ${MOST_REPEATED} deliveries`)
    known.life = life
    return known
  }
}

/** The ids of all events about contacts in the log. */
async function contactEvents(url: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = 0; ; ) {
    const reply = await ask(url, 'GET', `/~acme/events?type=Contact&limit=1000&cursor=${cursor}`)
    if (reply?.status !== 200) throw new Error(`The log was not read: ${JSON.stringify(reply)}`)
    ids.push(...reply.body.results.map((event: { readonly id: string }) => event.id))
    if (!reply.body.hasMore) return ids
    cursor = reply.body.cursor
  }
}
