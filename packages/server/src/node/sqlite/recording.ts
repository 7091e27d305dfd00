import type { DatabaseSync, Session } from 'node:sqlite'

/** Receives the changes of one commit, with its number. `erases` when it took values out of the log of events. */
export type OnCommit = (n: number, changes: Uint8Array, erases: boolean) => void

/** A table without a primary key: the changes of a session leave it out. It says how many commits the file has. */
export const COMMITS =
  'CREATE TABLE IF NOT EXISTS commits (n INTEGER NOT NULL, epoch INTEGER NOT NULL, next INTEGER NOT NULL)'

/** The one change that rows of the log allow is an erasure. */
const ERASURE = /^\s*UPDATE log\b/i

/** Records what each transaction changes, in all tables, as a patchset of SQLite: it holds new values only, so an erasure tells nothing. */
export class Recording {
  readonly #db: DatabaseSync
  readonly #onCommit: OnCommit
  #session: Session
  #n: number
  #erases = false

  constructor(db: DatabaseSync, onCommit: OnCommit) {
    this.#db = db
    this.#onCommit = onCommit
    this.#n = (db.prepare('SELECT n FROM commits').get() as { n: number }).n
    this.#session = db.createSession()
  }

  /** A statement that writes is about to run. */
  note(sql: string): void {
    if (ERASURE.test(sql)) this.#erases = true
  }

  /** Numbers the current transaction, before it is committed. Returns what tells of it after that. */
  seal(): (() => void) | undefined {
    const changes = this.#session.patchset()
    if (changes.length === 0) return undefined
    const n = this.#n + 1
    this.#db.exec('UPDATE commits SET n = n + 1, epoch = next')
    return () => {
      this.#n = n
      const erases = this.#erases
      this.#erases = false
      this.#session.close()
      this.#session = this.#db.createSession()
      this.#onCommit(n, changes, erases)
    }
  }

  close(): void {
    this.#session.close()
  }
}
