import type { DatabaseSync } from 'node:sqlite'
import { overBudget } from '@tildebase/tenant/internal'

/** The clock is looked at once in about 256 rows: one in 32 calls us, by chance, and every eighth call looks. */
const TICK = '(random() & 31 OR tick())'
const CLOCK_EVERY = 8
const LATE = 'the query exceeded its time'

/** Ends statements of a connection that take too long. */
export class QueryClock {
  /** A condition that is always true, for statements that read many rows. */
  readonly tick = TICK
  #deadline = Number.POSITIVE_INFINITY
  #ticks = 0

  constructor(db: DatabaseSync) {
    db.function('tick', { deterministic: false, directOnly: true }, () => this.#look())
  }

  within<T>(ms: number, work: () => T): T {
    const before = this.#deadline
    this.#deadline = Math.min(before, performance.now() + ms)
    try {
      return work()
    } catch (reason) {
      throw reason instanceof Error && reason.message === LATE ? overBudget('time', 'time') : reason
    } finally {
      this.#deadline = before
    }
  }

  /** Called for some rows of a scan; looks at the clock only now and then. */
  #look(): number {
    if (++this.#ticks % CLOCK_EVERY === 0 && performance.now() > this.#deadline) throw new Error(LATE)
    return 1
  }
}
