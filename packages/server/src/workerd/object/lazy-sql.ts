import { layOut } from '@tildebase/tenant/internal'
import type { Sql, SqlValue } from '@tildebase/tenant/ports'

type Statement = readonly [sql: string, ...values: SqlValue[]]

/**
 * The database of a tenant that may not exist yet. Until the first event is written it lays the tables out for the
 * length of a statement or a transaction and takes them back: reading a tenant that does not exist creates nothing.
 */
export class LazySql implements Sql {
  readonly #sql: Sql
  #exists: boolean
  #depth = 0
  /** What was written in addition to events so far, such as the numbers of fields: to be seen by what comes later. */
  #journal: Statement[] = []

  constructor(sql: Sql) {
    this.#sql = sql
    this.#exists = sql.rows(`SELECT 1 FROM sqlite_schema WHERE name = 'log'`).length > 0
  }

  /** Whether the tenant is there. */
  get exists(): boolean {
    return this.#exists
  }

  get tick(): string {
    return this.#sql.tick
  }

  rows(sql: string, ...values: SqlValue[]): unknown[][] {
    if (this.#exists) return this.#sql.rows(sql, ...values)
    if (this.#depth === 0) return this.#pretend(() => this.rows(sql, ...values))
    if (!/^\s*(?:SELECT|WITH|PRAGMA)\b/i.test(sql)) this.#journal.push([sql, ...values])
    return this.#sql.rows(sql, ...values)
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.rows(sql, ...values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T {
    if (this.#exists) return this.#sql.transaction(work)
    if (this.#depth === 0) return this.#pretend(() => work() as T)
    const written = this.#journal.length
    try {
      return this.#sql.transaction(work)
    } catch (reason) {
      this.#journal.length = written
      throw reason
    }
  }

  within<T>(ms: number, work: () => T): T {
    return this.#sql.within(ms, work)
  }

  bytes(): number {
    return this.#sql.bytes?.() ?? 0
  }

  faults(): string[] {
    return this.#sql.faults?.() ?? []
  }

  /** Runs `work` on tables that stay only if it writes an event. */
  #pretend<T>(work: () => T): T {
    const journal = [...this.#journal]
    let result: { readonly value: T } | undefined
    let stays = false
    this.#depth++
    try {
      this.#sql.transaction(() => {
        layOut(this.#sql)
        for (const [sql, ...values] of journal) this.#sql.run(sql, ...values)
        result = { value: work() }
        stays = this.#sql.rows('SELECT 1 FROM log LIMIT 1').length > 0
        if (!stays) throw NOTHING
      })
    } catch (reason) {
      if (reason !== NOTHING) {
        this.#journal = journal
        throw reason
      }
    } finally {
      this.#depth--
    }
    if (stays) {
      this.#exists = true
      this.#journal = []
    }
    return result!.value
  }
}

const NOTHING = Symbol('nothing was written')
