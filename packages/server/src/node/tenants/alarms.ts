import { openSql } from '../sqlite/sql.ts'

/** How long a tenant has to wake up before it is called again. */
const LEASE = 60_000

/** When sleeping tenants are to be woken. Kept on disk; one timer for all of them. */
export class Alarms {
  readonly #sql: ReturnType<typeof openSql>
  readonly #wake: (slug: string) => Promise<void>
  #timer: NodeJS.Timeout | null = null
  #closed = false

  constructor(path: string, wake: (slug: string) => Promise<void>) {
    this.#sql = openSql(path)
    this.#wake = wake
    this.#sql.run('CREATE TABLE IF NOT EXISTS alarms (tenant TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID')
    this.#sql.run('CREATE INDEX IF NOT EXISTS alarms_at ON alarms (at)')
  }

  /** Books the next time a tenant is to be woken, or that it need not be. */
  book(slug: string, at: number | null): void {
    if (at === null) this.#sql.run('DELETE FROM alarms WHERE tenant = ?', slug)
    else
      this.#sql.run(
        'INSERT INTO alarms (tenant, at) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET at = excluded.at',
        slug,
        at,
      )
    this.start()
  }

  /** Rings what is due, and waits for the next. */
  start(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const next = this.#sql.rows('SELECT min(at) FROM alarms')[0]![0] as number | null
    if (next === null) return
    // A timer holds 24 days at most; a day is soon enough to look again.
    const delay = Math.min(Math.max(next - Date.now(), 0), 86_400_000)
    this.#timer = setTimeout(() => this.#ring(), delay)
    this.#timer.unref()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#sql.close()
  }

  /** An alarm is gone once its tenant is awake, and not before: a crash in between rings again. */
  #ring(): void {
    const now = Date.now()
    const due = this.#sql.rows('SELECT tenant FROM alarms WHERE at <= ? ORDER BY at LIMIT 100', now)
    const again = now + LEASE
    this.#sql.transaction(() => {
      for (const [slug] of due) this.#sql.run('UPDATE alarms SET at = ? WHERE tenant = ?', again, slug)
    })
    for (const [slug] of due) {
      this.#wake(slug).then(
        () => this.#settle(slug, again),
        () => {},
      )
    }
    this.start()
  }

  #settle(slug: string, at: number): void {
    if (!this.#closed) this.#sql.run('DELETE FROM alarms WHERE tenant = ? AND at = ?', slug, at)
  }
}
