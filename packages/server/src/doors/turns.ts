import { TURN } from '@tildebase/tenant/internal'
import type { MaybePromise } from './http.ts'

/** Short work that a client waits for. Answers that are ready leave before requests begin. */
type Short = 'answer' | 'request'

interface Later {
  /** Whether it is the beginning of a slice, which takes the rest of the turn. */
  readonly isSlice: boolean
  readonly begin: () => void
}

/** How the steps of long work are counted. */
export interface Steps {
  /** Whether requests wait for this thread, as far as the host knows. */
  readonly isAwaited: () => boolean
  /** Called with the milliseconds that each turn took. */
  readonly worked: (ms: number) => void
}

/**
 * Shares the time of a thread. Requests are begun one after the other once all input has been read, and their answers leave
 * one after the other: a read of SQLite and a write to a socket take half the time when nothing else runs between them.
 * A burst is spread over turns of the event loop, tenant by tenant. Long work (scans, imports, exports) is done in slices,
 * and live answers, of which an event may have a thousand, after those that a client waits for.
 */
export class Scheduler {
  readonly #waiting = { answer: new Lanes<() => void>(), request: new Lanes<() => void>() }
  readonly #later = new Lanes<Later>()
  /** Until when short work is done in this turn of the event loop. */
  #end = 0
  #hasTurn = false
  #hasLater = false
  /** Called before later work: answers that are ready leave before it, and not after. */
  beforeLater = () => {}

  /** Whether an answer may leave at once. If not, it is to wait for its turn. */
  isFree(): boolean {
    if (!this.#hasTurn) this.#nextTurn()
    return this.#waiting.answer.size === 0 && performance.now() < this.#end
  }

  /** Does short work when it is the turn of its lane. */
  inTurn<T>(kind: Short, lane: string, work: () => MaybePromise<T>): Promise<T> {
    if (!this.#hasTurn) this.#nextTurn()
    return new Promise((done, failed) => this.#waiting[kind].add(lane, settling(work, done, failed)))
  }

  /** Does something short after the work that clients wait for, when it is the tenant's turn. */
  later<T>(tenant: string, work: () => T): Promise<T> {
    return new Promise((done, failed) => this.add(tenant, settling(work, done, failed)))
  }

  /** The same without a promise, for work that never throws: an event may have ten thousand followers. */
  add(tenant: string, begin: () => void): void {
    this.#add(tenant, { isSlice: false, begin })
  }

  /** Done when it is the tenant's turn to do a slice of something long. No other slice is done in the same turn. */
  next(tenant: string): Promise<void> {
    return new Promise((begin) => this.#add(tenant, { isSlice: true, begin }))
  }

  /** Does the steps of long work, with turns for others before and between them. */
  async steps<T>(tenant: string, steps: Iterator<void, T>, { isAwaited, worked }: Steps): Promise<T> {
    for (;;) {
      await this.next(tenant)
      const begun = performance.now()
      let step = steps.next()
      let ms = performance.now() - begun
      while (!step.done && ms < TURN.longest && (ms < TURN.read || !isAwaited())) {
        step = steps.next()
        ms = performance.now() - begun
      }
      worked(ms)
      if (step.done) return step.value
    }
  }

  #nextTurn(): void {
    this.#hasTurn = true
    this.#end = performance.now() + TURN.short
    afterInput(this.#turn)
  }

  readonly #turn = (): void => {
    this.#hasTurn = false
    const { answer, request } = this.#waiting
    if (answer.size + request.size === 0) return
    this.#nextTurn()
    for (let work = answer.next() ?? request.next(); work; work = answer.next() ?? request.next()) {
      work()
      if (performance.now() >= this.#end) return
    }
  }

  #add(tenant: string, one: Later): void {
    this.#later.add(tenant, one)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#hasLater || this.#later.size === 0) return
    this.#hasLater = true
    // A commit that a request begins runs at the first of the two, so it does not wait for what comes later.
    afterInput(() => afterInput(this.#turnLater))
  }

  readonly #turnLater = (): void => {
    this.#hasLater = false
    this.beforeLater()
    const end = performance.now() + TURN.short
    for (let one = this.#later.next(); one; one = this.#later.next()) {
      one.begin()
      if (one.isSlice || performance.now() >= end) break
    }
    this.#schedule()
  }
}

/** What waits, lane by lane. The lanes take turns, and each keeps its order. */
class Lanes<T> {
  readonly #lanes = new Map<string, T[]>()
  /** How many items wait. */
  size = 0

  add(lane: string, item: T): void {
    this.size++
    const others = this.#lanes.get(lane)
    if (others) others.push(item)
    else this.#lanes.set(lane, [item])
  }

  /** The first of the lane whose turn is longest ago. Undefined when nothing waits. */
  next(): T | undefined {
    if (this.size === 0) return undefined
    for (const [lane, items] of this.#lanes) {
      const first = items.shift()
      // The only lane stays, even without items: a map that grows and shrinks leaves its old tables in memory for long.
      if (this.#lanes.size > 1) {
        this.#lanes.delete(lane)
        if (items.length > 0) this.#lanes.set(lane, items)
      }
      if (first === undefined) continue
      this.size--
      return first
    }
    return undefined
  }
}

function settling<T>(
  work: () => MaybePromise<T>,
  done: (value: MaybePromise<T>) => void,
  failed: (reason: unknown) => void,
) {
  return () => {
    try {
      done(work())
    } catch (reason) {
      failed(reason)
    }
  }
}

/** Runs a callback after the input that is there has been read. */
const afterInput: (run: () => void) => void =
  'setImmediate' in globalThis ? setImmediate : (run) => void setTimeout(run, 0)

/** The scheduler of this thread. */
export const scheduler = new Scheduler()
