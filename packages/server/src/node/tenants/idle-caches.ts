/** What holds memory that it can do without. */
interface Cached {
  /** Whether nothing uses it. */
  readonly isIdle: () => boolean
  readonly releaseMemory: () => void
}

/** How long something is unused, at least, before its memory is released. */
const IDLE_MS = 30_000

/** Releases the memory of what is no longer used. There is no timer when nothing holds any. */
export class IdleCaches<T extends Cached> {
  /** Used since the last look, and before that. */
  #recent = new Set<T>()
  #older = new Set<T>()
  #timer: NodeJS.Timeout | null = null

  used(one: T): void {
    this.#recent.add(one)
    this.#timer ??= setInterval(() => this.#look(), IDLE_MS).unref()
  }

  forget(one: T): void {
    this.#recent.delete(one)
    this.#older.delete(one)
  }

  #look(): void {
    for (const one of this.#older) {
      if (this.#recent.has(one)) continue
      if (one.isIdle()) one.releaseMemory()
      else this.#recent.add(one)
    }
    this.#older = this.#recent
    this.#recent = new Set()
    if (this.#older.size > 0) return
    clearInterval(this.#timer!)
    this.#timer = null
  }
}
