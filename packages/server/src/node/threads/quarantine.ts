import { Problem } from '@tildebase/nouns'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** So many deaths of its thread within so long a time take a tenant out, for so long. */
const MOST_DEATHS = 2
const WINDOW = MINUTE
export const QUARANTINE = 10 * MINUTE

/** The tenants that ended their thread again and again, each alone out of service for a while. */
export class Quarantine {
  readonly #now: () => number
  readonly #deaths = new Map<string, number[]>()
  readonly #until = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** How many tenants are in quarantine. */
  get size(): number {
    return [...this.#until.keys()].filter((slug) => this.has(slug)).length
  }

  /** Records that the thread ended while it worked on this tenant. Returns the end of a quarantine that begins now. */
  died(slug: string): number | null {
    const now = this.#now()
    this.#forget(now)
    const deaths = [...(this.#deaths.get(slug) ?? []), now]
    this.#deaths.set(slug, deaths)
    if (deaths.length < MOST_DEATHS) return null
    this.#deaths.delete(slug)
    this.#until.set(slug, now + QUARANTINE)
    return now + QUARANTINE
  }

  has(slug: string): boolean {
    return (this.#until.get(slug) ?? 0) > this.#now()
  }

  /** Ends the quarantine of a tenant; false when it was in none. */
  release(slug: string): boolean {
    const was = this.has(slug)
    this.#until.delete(slug)
    this.#deaths.delete(slug)
    return was
  }

  /** Throws while the tenant is in quarantine. */
  refuse(slug: string): void {
    if (!this.has(slug)) return
    const retryAfter = Math.ceil((this.#until.get(slug)! - this.#now()) / SECOND)
    throw new Problem(
      'quarantined',
      `The tenant ${slug} stopped its thread twice within a minute and is out of service. The operator can release it.`,
      { retryAfter },
    )
  }

  /** Drops what no longer counts, so that the memory of it stays small. */
  #forget(now: number): void {
    for (const [slug, deaths] of this.#deaths) {
      const counted = deaths.filter((at) => now - at < WINDOW)
      if (counted.length > 0) this.#deaths.set(slug, counted)
      else this.#deaths.delete(slug)
    }
    for (const [slug, until] of this.#until) if (until <= now) this.#until.delete(slug)
  }
}
