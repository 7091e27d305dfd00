/** How long the readers of live answers may use a thread before the requests that wait have their turn. */
const TURN_MS = 4

type Read = () => void

/**
 * The turns of live answers in a thread: their tenants read one after the other, for some milliseconds at a time. One
 * event may have a thousand readers.
 */
class LiveTurns {
  readonly #waiting = new Map<string, Read[]>()
  #isScheduled = false

  /** Does some reading when it is the tenant's turn. */
  run<T>(tenant: string, work: () => T): Promise<T> {
    return new Promise((done, failed) => {
      const read = () => {
        try {
          done(work())
        } catch (reason) {
          failed(reason)
        }
      }
      const others = this.#waiting.get(tenant)
      if (others) others.push(read)
      else this.#waiting.set(tenant, [read])
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return
    this.#isScheduled = true
    soon(() => {
      this.#isScheduled = false
      this.#readSome()
      this.#schedule()
    })
  }

  #readSome(): void {
    const end = performance.now() + TURN_MS
    for (let next = this.#next(); next !== null; next = performance.now() < end ? this.#next() : null) next()
  }

  /** The next read of the tenant that has waited longest since its last. */
  #next(): Read | null {
    for (const [tenant, reads] of this.#waiting) {
      const read = reads.shift()!
      this.#waiting.delete(tenant)
      if (reads.length > 0) this.#waiting.set(tenant, reads)
      return read
    }
    return null
  }
}

/** After what is at hand is done: the writer has its answer before a thousand followers have theirs. */
const soon = globalThis.setImmediate ?? ((run: () => void) => setTimeout(run, 0))

export const liveTurns = new LiveTurns()
