import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Problem } from '@tildebase/nouns'
import type { Sql, SqlValue } from '@tildebase/tenant'

export interface NodeSql extends Sql {
  close(): void
}

/** The limits of a Durable Object's SQLite, so that tests find out here what would fail there. */
const DURABLE_OBJECT_LIMITS = {
  variableNumber: 100,
  column: 100,
  sqlLength: 100_000,
  exprDepth: 100,
  compoundSelect: 5,
  likePatternLength: 50,
}

const MOST_STATEMENTS = 400
const CLOCK_EVERY = 256

/** Opens a SQLite file, or `:memory:`, durable before every commit returns. */
export function openSql(path: string, options: { readonly limits?: boolean } = {}): NodeSql {
  const db = new DatabaseSync(path, options.limits ? { limits: DURABLE_OBJECT_LIMITS } : {})
  for (const pragma of PRAGMAS) db.exec(pragma)
  return new Connection(db)
}

// synchronous comes after the mode: in WAL the default could be NORMAL, which loses commits with the power.
const PRAGMAS = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA busy_timeout = 2000',
  'PRAGMA cache_size = -8000',
  'PRAGMA temp_store = MEMORY',
  // What is deleted is overwritten, so that an erasure leaves nothing in the file.
  'PRAGMA secure_delete = ON',
]

class Connection implements NodeSql {
  readonly tick = 'tick()'
  readonly #db: DatabaseSync
  /** In the order of their last use. */
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0
  /** What SQLite found wrong with the file. From then on nothing is read from it and nothing written. */
  #damage: Error | null = null
  #deadline = Number.POSITIVE_INFINITY
  #ticks = 0

  constructor(db: DatabaseSync) {
    this.#db = db
    db.function('tick', { deterministic: false, directOnly: true }, () => this.#tick())
  }

  rows(sql: string, ...values: SqlValue[]): any[][] {
    if (this.#damage) throw this.#damage
    try {
      return this.#statement(sql).all(...values) as unknown as any[][]
    } catch (reason) {
      if (isDamage(reason)) this.#damage = reason
      throw reason
    }
  }

  run(sql: string, ...values: SqlValue[]): void {
    // Not the statement's own `run`: it would tell the last rowid, which the text index chooses beyond what a number
    // can hold, and throw.
    this.rows(sql, ...values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T {
    const outer = this.#depth === 0
    this.run(outer ? 'BEGIN IMMEDIATE' : 'SAVEPOINT inner_work')
    this.#depth++
    try {
      const result = work()
      this.run(outer ? 'COMMIT' : 'RELEASE inner_work')
      return result as T
    } catch (reason) {
      this.#undo(outer)
      throw reason
    } finally {
      this.#depth--
    }
  }

  within<T>(ms: number, work: () => T): T {
    const before = this.#deadline
    this.#deadline = Math.min(before, performance.now() + ms)
    try {
      return work()
    } catch (reason) {
      throw reason instanceof Error && reason.message === LATE ? late() : reason
    } finally {
      this.#deadline = before
    }
  }

  faults(): string[] {
    return this.rows('PRAGMA integrity_check(20)').flatMap(([line]) => (line === 'ok' ? [] : [line as string]))
  }

  scrub(): void {
    this.rows('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  /** A savepoint's name may repeat: the innermost is meant. SQLite may have ended the transaction by itself. */
  #undo(outer: boolean): void {
    if (!this.#db.isTransaction) return
    if (outer) this.run('ROLLBACK')
    else {
      this.run('ROLLBACK TO inner_work')
      this.run('RELEASE inner_work')
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) {
      this.#statements.delete(sql)
      this.#statements.set(sql, known)
      return known
    }
    const made = this.#db.prepare(sql)
    made.setReturnArrays(true)
    if (this.#statements.size >= MOST_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value!)
    this.#statements.set(sql, made)
    return made
  }

  /** Called once per row of a scan; looks at the clock only now and then. */
  #tick(): number {
    if (++this.#ticks % CLOCK_EVERY === 0 && performance.now() > this.#deadline) throw new Error(LATE)
    return 1
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
function isDamage(reason: unknown): reason is Error {
  const code = (reason as { errcode?: number }).errcode ?? 0
  return (code & 0xff) === 11 || (code & 0xff) === 26
}

const LATE = 'the query is over its time'

function late(): Problem {
  return new Problem(
    'query_timeout',
    'This query took too long. Narrow its filter, or index a field it asks for (# in the schema).',
  )
}
