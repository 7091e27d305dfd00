import { Problem } from '@tildebase/nouns'

/** Work of so few parts is not long. */
const FEW_PARTS = 20
/** Work that takes so many times its slice is too long, even if the machine was busy with something else. */
const LONGEST = 10

/** What a request may use: milliseconds of the engine, rows read, bytes of the answer. */
export interface BudgetLimits {
  readonly ms: number
  readonly rows: number
  readonly bytes: number
}

interface Slice {
  readonly ms: number
  readonly since: number
  parts: number
  /** How long the thread had worked when the work turned out to have more than a few parts. */
  cpuSince: number
}

type Limit = 'time' | 'rows' | 'bytes'

const ADVICE: { readonly [limit in Limit]: string } = {
  time: 'Narrow the filter, or index one of its fields (# in the schema).',
  rows: 'Narrow the filter, or read the collection in pages.',
  bytes: 'Request fewer entities, fields or relations, or use /export.',
}

/**
 * What is left for one request, shared by all its parts. Time counts only while the engine works, so that waiting for
 * a commit or for a client costs nothing.
 */
export class Budget {
  readonly #limits: BudgetLimits
  /** What time is read from. */
  readonly timer: () => number
  /** How long this thread has worked: less than has passed when others used the machine. */
  readonly cpu: () => number
  #ms: number
  #rows: number
  #bytes: number
  /** When the outermost piece of work began, or null. */
  #since: number | null = null
  /** The work in progress that must fit into its commit; null for other work. */
  #slice: Slice | null = null

  constructor(limits: BudgetLimits, timer: () => number, cpu: () => number = timer) {
    this.#limits = limits
    this.timer = timer
    this.cpu = cpu
    this.#ms = limits.ms
    this.#rows = limits.rows
    this.#bytes = limits.bytes
  }

  /** A budget for the same answer, without a limit of time and rows: for work that others do not wait for. */
  unhurried(): Budget {
    const most = Number.POSITIVE_INFINITY
    return new Budget({ ms: most, rows: most, bytes: this.#bytes }, this.timer, this.cpu)
  }

  /** The milliseconds that there were at first. */
  get limitMs(): number {
    return this.#limits.ms
  }

  /** The milliseconds left. */
  get msLeft(): number {
    return this.#since === null ? this.#ms : this.#ms - (this.timer() - this.#since)
  }

  /** Runs `work` and counts its time. Work inside of work counts once. */
  time<T>(work: (msLeft: number) => T): T {
    this.checkTime()
    if (this.#since !== null) return work(this.msLeft)
    this.#since = this.timer()
    try {
      return work(this.#ms)
    } finally {
      this.#ms -= this.timer() - this.#since
      this.#since = null
    }
  }

  /** Runs `work` if it takes no longer than so many milliseconds; null if it would take longer. */
  briefly<T>(ms: number, work: () => T): T | null {
    const kept = this.#ms - ms
    if (kept <= 0) return work()
    this.#ms = ms
    try {
      return work()
    } catch (reason) {
      if (reason instanceof Problem && reason.code === 'over_budget' && reason.about.limit === 'time') return null
      throw reason
    } finally {
      this.#ms += kept
    }
  }

  /** Counts the time of `work`. Once that is longer than so many milliseconds, `checkTime` ends it with TOO_LONG. */
  slice<T>(ms: number, work: () => T): T {
    const before = this.#slice
    this.#slice = { ms, since: this.timer(), parts: 0, cpuSince: 0 }
    try {
      return this.time(work)
    } finally {
      this.#slice = before
    }
  }

  /** Throws when the time is used up. For loops in memory, which SQLite cannot interrupt. */
  checkTime(): void {
    const isUsedUp = this.msLeft <= 0
    if (this.#slice !== null && (isUsedUp || this.#isOver(this.#slice))) throw TOO_LONG
    if (isUsedUp) throw overBudget('time', `${this.#limits.ms} ms`)
  }

  #isOver(slice: Slice): boolean {
    if (++slice.parts <= FEW_PARTS) return false
    if (slice.parts === FEW_PARTS + 1) slice.cpuSince = this.cpu()
    const passed = this.timer() - slice.since
    return passed >= slice.ms && (passed >= slice.ms * LONGEST || this.cpu() - slice.cpuSince >= slice.ms)
  }

  spendRows(count: number): void {
    this.#rows -= count
    if (this.#rows < 0) throw overBudget('rows', `${this.#limits.rows} rows`)
  }

  spendBytes(count: number): void {
    this.#bytes -= count
    if (this.#bytes < 0) throw overBudget('bytes', `${this.#limits.bytes} bytes`)
  }
}

/** Thrown by work that takes too long for the commit that it is in. Nothing of it is kept, and it is begun again. */
export const TOO_LONG = new Error('This write is too long for one commit.')

/** A budget without limits, for work of the service itself, which is bounded in other ways. */
export function unlimited(timer: () => number = () => 0): Budget {
  const most = Number.POSITIVE_INFINITY
  return new Budget({ ms: most, rows: most, bytes: most }, timer)
}

/** The problem of a request that uses more than it may. */
export function overBudget(limit: Limit, allowed: string): Problem {
  return new Problem('over_budget', `The request exceeded its ${allowed}. ${ADVICE[limit]}`, { limit })
}
