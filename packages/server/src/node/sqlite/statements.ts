import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { BoundedMap } from '@tildebase/nouns/bounded-map'

const MOST = 400
const READING = /^\s*(?:SELECT|EXPLAIN|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

export interface Statement {
  readonly prepared: StatementSync
  readonly writes: boolean
}

/** The prepared statements of a connection. */
export class Statements {
  readonly #db: DatabaseSync
  readonly #known = new BoundedMap<string, Statement>(MOST)

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  of(sql: string): Statement {
    const known = this.#known.get(sql)
    if (known) return known
    const statement = this.#prepare(sql)
    this.#known.set(sql, statement)
    return statement
  }

  clear(): void {
    this.#known.clear()
  }

  #prepare(sql: string): Statement {
    const prepared = this.#db.prepare(sql)
    prepared.setReturnArrays(true)
    return { prepared, writes: !READING.test(sql) }
  }
}
