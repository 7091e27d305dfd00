import { Problem } from '@tildebase/nouns'
import type { Refusals } from '../watch/refusals.ts'

/** A body that is held in memory. */
export interface HeldBody {
  readonly tenant: string
  readonly address: string
  bytes: number
  /** Whether all of it is there: it can no longer be given up. */
  readonly isComplete: boolean
  /** Ends it: others need its room. */
  giveUp(reason: Problem): void
}

/** The memory that request bodies hold, bounded for the process. When it is full, the tenant that holds most gives way. */
export class BodyMemory {
  readonly #limit: number
  readonly #perAddress: number
  readonly #refusals: Refusals
  readonly #entries = new Set<HeldBody>()
  readonly #tenants = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  #total = 0

  constructor(limit: number, refusals: Refusals) {
    this.#limit = limit
    this.#perAddress = Math.ceil(limit / 2)
    this.#refusals = refusals
  }

  /** The bytes held now. */
  get total(): number {
    return this.#total
  }

  /** Begins to count a body, which is given up when others need its room. */
  hold(body: HeldBody): void {
    this.#entries.add(body)
  }

  /** Counts bytes of a body. Throws when there is no room for them. */
  add(body: HeldBody, bytes: number): void {
    if ((this.#addresses.get(body.address) ?? 0) + bytes > this.#perAddress) throw this.#full()
    while (this.#total + bytes > this.#limit) this.#makeRoom(body.tenant, bytes)
    this.#count(body, bytes)
  }

  /** The body is no longer held. */
  release(body: HeldBody): void {
    this.#count(body, -body.bytes)
    this.#entries.delete(body)
  }

  /** Ends the newest unfinished body of the tenant that holds most, or refuses when that is the tenant itself. */
  #makeRoom(tenant: string, bytes: number): void {
    const own = (this.#tenants.get(tenant) ?? 0) + bytes
    let victim: HeldBody | null = null
    let most = own
    for (const entry of this.#entries) {
      const held = this.#tenants.get(entry.tenant) ?? 0
      if (entry.isComplete || entry.tenant === tenant || entry.bytes === 0 || held < most) continue
      victim = entry
      most = held
    }
    if (victim === null) throw this.#full()
    this.release(victim)
    victim.giveUp(this.#full())
  }

  #count(entry: HeldBody, bytes: number): void {
    if (!this.#entries.has(entry)) return
    entry.bytes += bytes
    this.#total += bytes
    add(this.#tenants, entry.tenant, bytes)
    add(this.#addresses, entry.address, bytes)
  }

  #full(): Problem {
    this.#refusals.count('body_memory')
    return new Problem('busy', 'The memory for request bodies is full. Try again in a moment.', {
      retryAfter: 1,
    })
  }
}

function add(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
