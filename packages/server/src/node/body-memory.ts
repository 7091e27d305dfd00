import { Problem } from '@tildebase/nouns'
import type { Refusals } from './watch/refusals.ts'

/** A body that is held in memory. */
export interface HeldBody {
  /** Counts bytes that came; throws when there is no room for them. */
  add(bytes: number): void
  /** The body is complete: it can no longer be given up for others. */
  complete(): void
  release(): void
}

interface Entry {
  readonly tenant: string
  readonly address: string
  /** Ends the body while it is still being read. Null once it is complete. */
  giveUp: ((reason: Problem) => void) | null
  bytes: number
}

/** The memory that request bodies hold, bounded for the process. When it is full, the tenant that holds most gives way. */
export class BodyMemory {
  readonly #limit: number
  readonly #perAddress: number
  readonly #refusals: Refusals
  readonly #entries = new Set<Entry>()
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

  /** Begins to count a body; `giveUp` is called when others need its room. */
  hold(tenant: string, address: string, giveUp: (reason: Problem) => void): HeldBody {
    const entry: Entry = { tenant, address, giveUp, bytes: 0 }
    this.#entries.add(entry)
    return {
      add: (bytes) => {
        if ((this.#addresses.get(address) ?? 0) + bytes > this.#perAddress) throw this.#full()
        while (this.#total + bytes > this.#limit) this.#makeRoom(tenant, bytes)
        this.#count(entry, bytes)
      },
      complete: () => {
        entry.giveUp = null
      },
      release: () => this.#release(entry),
    }
  }

  /** Ends the newest unfinished body of the tenant that holds most, or refuses when that is the tenant itself. */
  #makeRoom(tenant: string, bytes: number): void {
    const own = (this.#tenants.get(tenant) ?? 0) + bytes
    let victim: Entry | null = null
    let most = own
    for (const entry of this.#entries) {
      const held = this.#tenants.get(entry.tenant) ?? 0
      if (entry.giveUp === null || entry.tenant === tenant || entry.bytes === 0 || held < most) continue
      victim = entry
      most = held
    }
    if (victim === null) throw this.#full()
    const { giveUp } = victim
    this.#release(victim)
    giveUp!(this.#full())
  }

  #count(entry: Entry, bytes: number): void {
    if (!this.#entries.has(entry)) return
    entry.bytes += bytes
    this.#total += bytes
    add(this.#tenants, entry.tenant, bytes)
    add(this.#addresses, entry.address, bytes)
  }

  #release(entry: Entry): void {
    this.#count(entry, -entry.bytes)
    this.#entries.delete(entry)
  }

  #full(): Problem {
    this.#refusals.count('body_memory')
    return new Problem('busy', 'The service holds too many bytes of your requests. Try again in a moment.', {
      retryAfter: 1,
    })
  }
}

function add(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
