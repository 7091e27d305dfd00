/** How long live answers may use the thread before the requests that wait have their turn. */
const TURN_MS = 4

interface Waiting {
  /** Whether it is the beginning of a slice, which takes the rest of the turn. */
  readonly isSlice: boolean
  readonly begin: () => void
}

/**
 * The turns of long work in a thread, tenant by tenant: live answers, of which an event may have a thousand, and scans,
 * imports and exports, slice by slice. Requests are answered between two turns.
 */
class ThreadTurns {
  readonly #waiting = new Map<string, Waiting[]>()
  #isScheduled = false
  /** Called before each turn: answers that are ready leave before it, and not after. */
  beforeTurn = () => {}

  /** Does something short when it is the tenant's turn. */
  run<T>(tenant: string, work: () => T): Promise<T> {
    return new Promise((done, failed) => {
      const begin = () => {
        try {
          done(work())
        } catch (reason) {
          failed(reason)
        }
      }
      this.#add(tenant, { isSlice: false, begin })
    })
  }

  /** Done when it is the tenant's turn to do a slice of something long. No other slice is done in the same turn. */
  next(tenant: string): Promise<void> {
    return new Promise((begin) => this.#add(tenant, { isSlice: true, begin }))
  }

  #add(tenant: string, one: Waiting): void {
    const others = this.#waiting.get(tenant)
    if (others) others.push(one)
    else this.#waiting.set(tenant, [one])
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return
    this.#isScheduled = true
    soon(() => {
      this.#isScheduled = false
      this.beforeTurn()
      this.#runTurn()
      this.#schedule()
    })
  }

  #runTurn(): void {
    const end = performance.now() + TURN_MS
    for (let one = this.#first(); one !== null; one = this.#first()) {
      one.begin()
      if (one.isSlice || performance.now() >= end) return
    }
  }

  /** The first of the tenant whose last turn is longest ago. */
  #first(): Waiting | null {
    for (const [tenant, all] of this.#waiting) {
      const one = all.shift()!
      this.#waiting.delete(tenant)
      if (all.length > 0) this.#waiting.set(tenant, all)
      return one
    }
    return null
  }
}

/**
 * Runs after the current work: the writer has its answer before a thousand followers. A commit that a
 * request begins runs at the first of the two immediates, so it does not wait for the turn.
 */
const soon =
  'setImmediate' in globalThis
    ? (run: () => void) => setImmediate(() => setImmediate(run))
    : (run: () => void) => setTimeout(run, 0)

export const threadTurns = new ThreadTurns()
