import { Problem } from '@tildebase/nouns'
import type { Refusals } from '../watch/refusals.ts'
import { Counts } from './addresses.ts'
import { Bag, type Placed } from './bag.ts'

/** A body that is held in memory. */
export interface HeldBody extends Placed {
  readonly tenant: string
  readonly address: string
  bytes: number
  /** Whether all of it is there: it can no longer be given up. */
  readonly isComplete: boolean
  /** When some of it came last, in milliseconds since 1970. */
  readonly heardAt: number
  /** Ends it: others need its room. */
  giveUp(reason: Problem): void
  /** Ends it: nothing of it came for too long. */
  stalled(): void
}

/** A stall is found late by this part of the time allowed, at most. */
const LATE = 0.25

/** The memory that request bodies hold, bounded for the process. When it is full, the tenant that holds most gives way. */
export class BodyMemory {
  readonly #limit: number
  readonly #perAddress: number
  readonly #pauseMs: number
  readonly #refusals: Refusals
  readonly #bodies = new Bag<HeldBody>()
  readonly #tenants = new Counts()
  readonly #addresses = new Counts()
  #total = 0
  #timer: NodeJS.Timeout | null = null

  constructor(limit: number, pauseMs: number, refusals: Refusals) {
    this.#limit = limit
    this.#pauseMs = pauseMs
    this.#perAddress = Math.ceil(limit / 2)
    this.#refusals = refusals
  }

  /** The bytes held now. */
  get total(): number {
    return this.#total
  }

  /** Begins to count a body, which is given up when others need its room. */
  hold(body: HeldBody): void {
    this.#bodies.add(body)
    this.#timer ??= setTimeout(() => this.#look(), this.#pauseMs * LATE)
  }

  /** Counts bytes of a body. Throws when there is no room for them. */
  add(body: HeldBody, bytes: number): void {
    if (this.#addresses.of(body.address).value + bytes > this.#perAddress) throw this.#full()
    while (this.#total + bytes > this.#limit) this.#makeRoom(body.tenant, bytes)
    this.#count(body, bytes)
  }

  /** The body is no longer held. */
  release(body: HeldBody): void {
    this.#count(body, -body.bytes)
    this.#bodies.remove(body)
  }

  /** Ends the bodies of which nothing came for too long. One timer for all: one each would cost more than a small body. */
  #look(): void {
    this.#timer = null
    const oldest = Date.now() - this.#pauseMs
    for (const body of this.#bodies) if (!body.isComplete && body.heardAt <= oldest) body.stalled()
    if (this.#bodies.size > 0) this.#timer = setTimeout(() => this.#look(), this.#pauseMs * LATE)
  }

  /** Ends an unfinished body of the tenant that holds most, or refuses when that is the tenant itself. */
  #makeRoom(tenant: string, bytes: number): void {
    const own = this.#tenants.of(tenant).value + bytes
    let victim: HeldBody | null = null
    let most = own
    for (const entry of this.#bodies) {
      const held = this.#tenants.of(entry.tenant).value
      if (entry.isComplete || entry.tenant === tenant || entry.bytes === 0 || held < most) continue
      victim = entry
      most = held
    }
    if (victim === null) throw this.#full()
    this.release(victim)
    victim.giveUp(this.#full())
  }

  #count(entry: HeldBody, bytes: number): void {
    if (entry.place === -1) return
    entry.bytes += bytes
    this.#total += bytes
    this.#tenants.of(entry.tenant).value += bytes
    this.#addresses.of(entry.address).value += bytes
  }

  #full(): Problem {
    this.#refusals.count('body_memory')
    return new Problem('busy', 'The memory for request bodies is full. Try again in a moment.', {
      retryAfter: 1,
    })
  }
}
