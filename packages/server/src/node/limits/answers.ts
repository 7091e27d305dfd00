import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from '../../doors/http.ts'
import type { Refusals } from '../watch/refusals.ts'
import { Counts } from './addresses.ts'
import { Bag, type Placed } from './bag.ts'

/** Smaller answers fit into the buffers of the connection and are not counted. */
const LEAST = 16_384

/** Whose answer it is. */
export interface AnswerOwner {
  readonly tenant: string
  readonly key: string
}

interface HeldAnswer extends AnswerOwner, Placed {
  /** Counts up: the least is the oldest. */
  readonly number: number
  readonly bytes: number
  /** What is ended when others need the room. */
  readonly connection: Connection
}

interface Connection {
  destroy(): unknown
}

/**
 * The memory of answers that wait to be read, bounded for the process: half of it for a tenant, a quarter for a key. When
 * it is full, the tenant that holds most loses its oldest answer.
 */
export class AnswerMemory {
  readonly #limit: number
  readonly #refusals: Refusals
  readonly #held = new Bag<HeldAnswer>()
  #last = 0
  readonly #tenants = new Counts()
  readonly #keys = new Counts()
  #total = 0

  constructor(limit: number, refusals: Refusals) {
    this.#limit = limit
    this.#refusals = refusals
  }

  /** The bytes held now. */
  get total(): number {
    return this.#total
  }

  /** Refuses a request of a key or a tenant that does not read its answers, before it is answered. */
  demandRoom({ tenant, key }: AnswerOwner): void {
    const ofKey = this.#keys.of(key).value
    if (ofKey >= this.#limit / 4 || (ofKey > 0 && this.#tenants.of(tenant).value >= this.#limit / 2)) throw this.#full()
  }

  /** Counts an answer until the function that it returns is called; small ones are not counted. Throws without room. */
  hold({ tenant, key }: AnswerOwner, { body, holds = 0 }: HttpResponse, connection: Connection): (() => void) | null {
    // Most streams take little: they are read as fast as they are sent.
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body.length : holds
    if (bytes < LEAST) return null
    const ofKey = this.#keys.of(key).value
    const ofTenant = this.#tenants.of(tenant).value
    // The first answer of a key may be larger than its part.
    if (ofKey > 0 && (ofKey + bytes > this.#limit / 4 || ofTenant + bytes > this.#limit / 2)) throw this.#full()
    while (this.#total > 0 && this.#total + bytes > this.#limit) this.#makeRoom(ofTenant + bytes)
    const answer: HeldAnswer = { tenant, key, bytes, connection, number: ++this.#last, place: -1 }
    this.#held.add(answer)
    this.#count(answer, bytes)
    return () => this.#release(answer)
  }

  /** Drops the oldest answer of the tenant that holds most, or refuses when none holds more than would be held now. */
  #makeRoom(own: number): void {
    let victim: HeldAnswer | null = null
    let most = own
    for (const answer of this.#held) {
      const held = this.#tenants.of(answer.tenant).value
      const isOlder = held === most && answer.number < (victim?.number ?? 0)
      if (held <= most && !isOlder) continue
      victim = answer
      most = held
    }
    if (victim === null) throw this.#full()
    this.#release(victim)
    this.#refusals.count('answer_memory')
    victim.connection.destroy()
  }

  #release(answer: HeldAnswer): void {
    if (this.#held.remove(answer)) this.#count(answer, -answer.bytes)
  }

  #count({ tenant, key }: AnswerOwner, bytes: number): void {
    this.#total += bytes
    this.#tenants.of(tenant).value += bytes
    this.#keys.of(key).value += bytes
  }

  #full(): Problem {
    this.#refusals.count('answer_memory')
    return new Problem('busy', 'Too many large answers wait to be read. Read them, or ask for less at once.', {
      retryAfter: 1,
    })
  }
}
