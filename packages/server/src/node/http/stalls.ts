/** Something that has to be heard of from time to time. */
export interface Stallable {
  /** When it was last heard of, in milliseconds since 1970. */
  readonly heardAt: number
  stalled(): void
}

/** A stall is found late by this part of the time allowed, at most. */
const LATE = 0.25

/** Watches bodies that may pause equally long. One timer for all: one each would cost more than a small body. */
export class StallWatch {
  readonly #pauseMs: number
  readonly #watched = new Set<Stallable>()
  #timer: NodeJS.Timeout | null = null

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs
  }

  /** Calls `stalled` once nothing was heard for too long, unless it is removed before. */
  add(one: Stallable): void {
    this.#watched.add(one)
    this.#timer ??= setTimeout(() => this.#look(), this.#pauseMs * LATE)
  }

  remove(one: Stallable): void {
    this.#watched.delete(one)
  }

  #look(): void {
    this.#timer = null
    const oldest = Date.now() - this.#pauseMs
    for (const one of this.#watched) if (one.heardAt <= oldest) one.stalled()
    if (this.#watched.size > 0) this.#timer = setTimeout(() => this.#look(), this.#pauseMs * LATE)
  }
}
