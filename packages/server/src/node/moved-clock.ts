import { Problem, parseInstant } from '@tildebase/nouns'

/** Something with work that is due at times. */
export interface Timed {
  /** When it next has something to do, or null. */
  due(): number | null
  /** Does all that is due now. */
  run(): Promise<void>
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Work that asks for more and more work at the same time is a mistake of its author. */
const MOST_RUNS = 100_000

/** A clock that shows the time that it was moved to, for tests: `localTildebase({ clock })`. */
export class MovedClock {
  #now: number
  readonly #followers = new Set<Timed>()

  /** @param start where it begins: an ISO time, or now. */
  constructor(start?: string) {
    const at = start === undefined ? Date.now() : parseInstant(start)
    if (at === null) throw new Problem('invalid_parameter', `${start} is not a time such as 2026-01-31T12:00:00Z.`)
    this.#now = at
  }

  now(): number {
    return this.#now
  }

  /** Moves on by a duration such as `30d`, `2h` or `500ms`, and runs what becomes due on the way, each at its time. */
  async advance(by: string): Promise<void> {
    const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(by) ?? []
    if (amount === undefined) throw new Problem('invalid_parameter', `${by} is not a duration such as 30d, 2h or 90s.`)
    const until = this.#now + Number(amount) * UNITS[unit!]!
    await this.#runDue(this.#now)
    for (let next = this.#next(); next !== null && next <= until; next = this.#next()) {
      this.#now = Math.max(this.#now, next)
      await this.#runDue(this.#now)
    }
    this.#now = until
    await this.#runDue(until)
  }

  /** Runs the work of a tenant whenever the clock is moved. Returns how to stop that. */
  follow(timed: Timed): () => void {
    this.#followers.add(timed)
    return () => this.#followers.delete(timed)
  }

  #next(): number | null {
    const dues = [...this.#followers].map((timed) => timed.due()).filter((due) => due !== null)
    return dues.length > 0 ? Math.min(...dues) : null
  }

  async #runDue(now: number): Promise<void> {
    for (let runs = 0; runs < MOST_RUNS; runs++) {
      for (const timed of this.#followers) await timed.run()
      if ((this.#next() ?? now + 1) > now) return
    }
  }
}
