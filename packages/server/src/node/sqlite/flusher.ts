import { closeSync, fdatasync, openSync } from 'node:fs'

const FLUSH_EVERY = 2_048

/**
 * Writes a growing copy to the disk while it is made. Otherwise its end would write all of it at once, and the database
 * that is copied would wait for that.
 */
export class Flusher {
  readonly #path: string
  #file: number | null = null
  #pages = 0
  #isFlushing = false
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** So many pages more are in the file. */
  copied(pages: number): void {
    this.#pages += pages
    if (this.#pages < FLUSH_EVERY || this.#isFlushing || this.#isClosed) return
    this.#pages = 0
    this.#isFlushing = true
    this.#file ??= openSync(this.#path, 'r')
    // What could not be written is reported by the copy itself.
    fdatasync(this.#file, () => {
      this.#isFlushing = false
      if (this.#isClosed) this.#close()
    })
  }

  close(): void {
    this.#isClosed = true
    if (!this.#isFlushing) this.#close()
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}
