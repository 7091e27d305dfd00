import { closeSync, fdatasync, openSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'

/** The pages that a copy takes at once, in well under a millisecond. Statements wait for them. */
const COPIED_AT_ONCE = 128
const MOST_TRIES = 100

/** Copies an open database to another file, while statements continue. `check` throws when the database is damaged. */
export async function copyDatabase(db: DatabaseSync, path: string, check: () => void): Promise<void> {
  for (let tries = 1; ; tries++) {
    check()
    const flusher = new Flusher(path)
    const progress = () => flusher.copied(COPIED_AT_ONCE)
    try {
      return void (await backup(db, path, { rate: COPIED_AT_ONCE, progress }))
    } catch (reason) {
      if (!isLocked(reason) || tries === MOST_TRIES) throw reason
    } finally {
      flusher.close()
    }
  }
}

/** A copy cannot begin in the middle of a transaction. Node then reports the code of no error at all. */
function isLocked(reason: unknown): boolean {
  const { errcode } = reason as { errcode?: number }
  return errcode !== undefined && [0, SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff)
}

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

const FLUSH_EVERY = 2_048

/**
 * Writes a growing copy to the disk while it is made. Otherwise its end would write all of it at once, and the database
 * that is copied would wait for that.
 */
class Flusher {
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
