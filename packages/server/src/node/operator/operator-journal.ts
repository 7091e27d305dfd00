import { isoOf } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import { parseJournalRequest } from '../../doors/watch/log-request.ts'
import { log } from '../log.ts'
import { openSql } from '../sqlite/sql.ts'

/** What the operator did with tenants: kept on disk, and a line in the log each. */
export class OperatorJournal {
  readonly #sql: ReturnType<typeof openSql>
  #closed = false

  constructor(path: string) {
    this.#sql = openSql(path)
    this.#sql.run(
      'CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, tenant TEXT NOT NULL, facts TEXT NOT NULL)',
    )
  }

  /** Writes down what the operator did. */
  add(action: string, tenant: string, facts: object): void {
    this.record(action, tenant, facts)
    log('info', 'The operator acted on a tenant', { action, tenant, ...facts })
  }

  /** Records an action of the service on a tenant. */
  record(action: string, tenant: string, facts: object): void {
    this.#sql.run(
      'INSERT INTO journal (at, action, tenant, facts) VALUES (?, ?, ?, ?)',
      Date.now(),
      action,
      tenant,
      JSON.stringify(facts),
    )
  }

  /** What was done, newest first, in the list envelope. */
  page({ query }: HttpRequest): HttpResponse {
    const { before, limit } = parseJournalRequest(query)
    const rows = this.#sql.rows(
      'SELECT id, at, action, tenant, facts FROM journal WHERE id < ? ORDER BY id DESC LIMIT ?',
      before,
      limit + 1,
    )
    const results = rows.slice(0, limit).map(([id, at, action, tenant, facts]) => {
      return { id, at: isoOf(at), action, tenant, ...JSON.parse(facts) }
    })
    const hasMore = rows.length > limit
    const [[total]] = this.#sql.rows('SELECT count(*) FROM journal') as [[number]]
    return render(json(200, { results, total, hasMore, cursor: hasMore ? String(results.at(-1)!.id) : null }))
  }

  close(): void {
    if (!this.#closed) this.#sql.close()
    this.#closed = true
  }
}
