/** The least that a client has to send or to read, in bytes per second. */
export const SLOWEST = 1_024

/** Watches how fast a body is sent or read. Only time that is spent waiting for the client counts. */
export class Pace {
  readonly #windowMs: number
  #waitedMs = 0
  #bytes = 0

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Counts bytes that came after a wait; false when too few came over the last window. */
  allows(bytes: number, waitedMs: number): boolean {
    this.#waitedMs += waitedMs
    this.#bytes += bytes
    if (this.#waitedMs < this.#windowMs) return true
    const isFastEnough = this.#bytes >= (this.#waitedMs / 1_000) * SLOWEST
    this.#waitedMs = 0
    this.#bytes = 0
    return isFastEnough
  }
}
