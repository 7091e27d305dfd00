import { Lanes } from './lanes.ts'

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
  readonly #waiting = new Lanes<Waiting>()
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
    this.#waiting.add(tenant, one)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.isEmpty) return
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
    for (let one = this.#waiting.next(); one; one = this.#waiting.next()) {
      one.begin()
      if (one.isSlice || performance.now() >= end) return
    }
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
