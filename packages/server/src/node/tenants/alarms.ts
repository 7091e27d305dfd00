import { openSql } from '../sqlite/sql.ts'

/** How long a tenant has to wake up before it is called again. */
const LEASE = 60_000
/** After so long a tenant is called again that could not be woken; the second time after twice as long, and so on. */
const RETRY = 1_000
const AT_ONCE = 100
/** How long the alarms of tenants that are awake are collected. */
const TOGETHER = 50
/** A timer holds 24 days at most; a day is soon enough to look again. */
const LONGEST = 86_400_000

/** A tenant that is being woken, or could not be woken. It is not called again before `until`. */
interface Call {
  readonly failures: number
  until: number
}

/** When sleeping tenants are to be woken. Kept on disk; one timer for all of them. */
export class Alarms {
  readonly #sql: ReturnType<typeof openSql>
  readonly #wake: (slug: string) => Promise<void>
  /** In memory only: after a stop of any kind, an alarm whose tenant did not wake up rings at once. */
  readonly #calls = new Map<string, Call>()
  /** Tenants that are awake, whose alarms are still on the disk. */
  #awake: (readonly [slug: string, call: Call])[] = []
  #timer: NodeJS.Timeout | null = null
  #timerAt = Number.POSITIVE_INFINITY
  #isSilent = false
  #closed = false

  constructor(path: string, wake: (slug: string) => Promise<void>) {
    // Many are booked at once when many tenants are closed: the disk takes these together.
    this.#sql = openSql(path, { deferred: true })
    this.#wake = wake
    this.#sql.run('CREATE TABLE IF NOT EXISTS alarms (tenant TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID')
    this.#sql.run('CREATE INDEX IF NOT EXISTS alarms_at ON alarms (at)')
  }

  /** Books the next time a tenant is to be woken, or that it need not be. */
  book(slug: string, at: number | null): void {
    this.#calls.delete(slug)
    if (at === null) this.#sql.run('DELETE FROM alarms WHERE tenant = ?', slug)
    else
      this.#sql.run(
        'INSERT INTO alarms (tenant, at) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET at = excluded.at',
        slug,
        at,
      )
    // A timer that comes too early finds nothing to do, and looks for the next.
    if (at !== null && at < this.#timerAt) this.#setTimer(at)
  }

  /** The same; settles when it is on the disk. */
  async bookSafely(slug: string, at: number | null): Promise<void> {
    this.book(slug, at)
    await this.#sql.pending()
  }

  /** Rings what is due, and waits for the next. */
  start(): void {
    this.#setTimer(this.#isSilent ? null : this.#next())
  }

  /** Wakes no more tenants: the service stops. Alarms can still be booked, and ring after the next start. */
  silence(): void {
    this.#isSilent = true
    this.start()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.silence()
    this.#sql.close()
  }

  #setTimer(at: number | null): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
    if (at === null || this.#isSilent) return
    this.#timerAt = at
    this.#timer = setTimeout(() => this.#ring(), Math.min(Math.max(at - Date.now(), 0), LONGEST)).unref()
  }

  /** When the next tenant is to be called, or null. */
  #next(): number | null {
    const rows = this.#sql.rows('SELECT tenant, at FROM alarms ORDER BY at LIMIT ?', this.#calls.size + 1)
    const free = rows.find(([slug]) => !this.#calls.has(slug as string))?.[1] as number | undefined
    const next = Math.min(free ?? Number.POSITIVE_INFINITY, ...[...this.#calls.values()].map(({ until }) => until))
    return Number.isFinite(next) ? next : null
  }

  /** An alarm is deleted once its tenant is awake, and not before: a crash in between rings again. */
  #ring(): void {
    const now = Date.now()
    const most = AT_ONCE + this.#calls.size
    const due = this.#sql.rows('SELECT tenant, at FROM alarms WHERE at <= ? ORDER BY at LIMIT ?', now, most)
    for (const [slug] of due as [string, number][]) {
      const before = this.#calls.get(slug)
      if (before && before.until > now) continue
      const call: Call = { failures: (before?.failures ?? 0) + 1, until: now + LEASE }
      this.#calls.set(slug, call)
      this.#wake(slug).then(
        () => this.#settle(slug, call),
        () => this.#retry(slug, call),
      )
    }
    this.start()
  }

  /** A silent service wakes tenants that start nothing: their alarms remain. */
  #settle(slug: string, call: Call): void {
    if (this.#isSilent || this.#calls.get(slug) !== call) return
    this.#awake.push([slug, call])
    // After a start many wake up at once: their alarms are deleted in one commit.
    if (this.#awake.length === 1) setTimeout(() => this.#forgetAwake(), TOGETHER).unref()
  }

  #forgetAwake(): void {
    const awake = this.#awake.filter(([slug, call]) => this.#calls.get(slug) === call)
    this.#awake = []
    if (this.#isSilent || awake.length === 0) return
    const slugs = awake.map(([slug]) => slug)
    this.#sql.run('DELETE FROM alarms WHERE tenant IN (SELECT value FROM json_each(?))', JSON.stringify(slugs))
    for (const slug of slugs) this.#calls.delete(slug)
  }

  #retry(slug: string, call: Call): void {
    if (this.#isSilent || this.#calls.get(slug) !== call) return
    call.until = Date.now() + Math.min(RETRY * 2 ** (call.failures - 1), LEASE)
    this.start()
  }
}
