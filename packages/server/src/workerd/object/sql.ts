import type { DurableObjectStorage } from 'cloudflare:workers'
import type { Sql, SqlValue } from '@tildebase/tenant/ports'

/** The SQLite database of a Durable Object. */
export class DurableSql implements Sql {
  /** The platform ends long requests; our functions cannot read the clock inside a statement. */
  readonly tick = ''
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  rows(sql: string, ...values: SqlValue[]): unknown[][] {
    const rows = [...this.#storage.sql.exec(sql, ...values).raw()]
    for (const row of rows) {
      for (let i = 0; i < row.length; i++)
        if (row[i] instanceof ArrayBuffer) row[i] = new Uint8Array(row[i] as ArrayBuffer)
    }
    return rows
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.rows(sql, ...values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T {
    return this.#storage.transactionSync(work)
  }

  within<T>(_: number, work: () => T): T {
    return work()
  }

  /** The platform leaves out unused pages. */
  bytes(): number {
    return this.#storage.sql.databaseSize
  }

  faults(): string[] {
    return this.rows('PRAGMA quick_check(20)').flatMap(([line]) => (line === 'ok' ? [] : [line as string]))
  }
}
