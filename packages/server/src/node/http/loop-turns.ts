import type { MaybePromise } from '../../doors/http.ts'
import { Lanes } from '../../doors/turns/lanes.ts'

/** What bursts may take of one turn of the event loop. */
const TURN_MS = 4

/**
 * Spreads bursts over turns of the event loop. What comes when a turn has taken its time waits for the next one, where
 * lanes are served one after the other. Otherwise a thousand requests or answers at once would hold up all others.
 */
export class LoopTurns {
  readonly #waiting = new Lanes<() => void>()
  #isScheduled = false
  #end = 0

  /** Does something short: now, or when it is the turn of its lane. */
  run(laneOf: () => string, work: () => void): void {
    if (this.#isFree()) work()
    else this.#waiting.add(laneOf(), work)
  }

  /** The same, with a result. */
  call<T>(laneOf: () => string, work: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#isFree()) return work()
    return new Promise((done, failed) =>
      this.#waiting.add(laneOf(), () => {
        try {
          done(work())
        } catch (reason) {
          failed(reason)
        }
      }),
    )
  }

  #isFree(): boolean {
    this.#schedule()
    return this.#waiting.isEmpty && performance.now() < this.#end
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#end = performance.now() + TURN_MS
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    this.#isScheduled = false
    if (this.#waiting.isEmpty) return
    this.#schedule()
    for (let work = this.#waiting.next(); work; work = this.#waiting.next()) {
      work()
      if (performance.now() >= this.#end) return
    }
  }
}
