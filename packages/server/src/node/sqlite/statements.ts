import type { DatabaseSync, StatementSync } from 'node:sqlite'

const MOST = 200
const READING = /^\s*(?:SELECT|EXPLAIN|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

export interface Statement {
  readonly prepared: StatementSync
  readonly writes: boolean
}

/** The prepared statements of a connection. Those that are not used again are dropped. */
export class Statements {
  readonly #db: DatabaseSync
  /** Statements used lately, and those used before that. */
  #recent = new Map<string, Statement>()
  #older = new Map<string, Statement>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  of(sql: string): Statement {
    const known = this.#recent.get(sql)
    if (known) return known
    const found = this.#older.get(sql) ?? this.#prepare(sql)
    if (this.#recent.size >= MOST) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(sql, found)
    return found
  }

  clear(): void {
    this.#recent.clear()
    this.#older.clear()
  }

  #prepare(sql: string): Statement {
    const prepared = this.#db.prepare(sql)
    prepared.setReturnArrays(true)
    return { prepared, writes: !READING.test(sql) }
  }
}
