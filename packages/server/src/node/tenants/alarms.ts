import { existsSync, rmSync } from 'node:fs'
import { Problem } from '@tildebase/nouns'
import { report } from '../log.ts'
import { SUFFIXES } from '../sqlite/checks/wal-mark.ts'
import { type NodeSql, openSql } from '../sqlite/sql.ts'

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

/**
 * When sleeping tenants are to be woken. Kept on disk; one timer for all of them. When the disk fails, bookings stay in memory
 * and are stored later. If they cannot be stored before a stop, the file is removed: without it all tenants are woken.
 */
export class Alarms {
  readonly #path: string
  #sql: NodeSql
  /** Whether there was no file. */
  readonly isNew: boolean
  /** Bookings that the disk has refused. */
  readonly #unstored = new Map<string, number | null>()
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
    this.#path = path
    this.#wake = wake
    this.isNew = !existsSync(path)
    this.#sql = open(path)
  }

  /** Books the next time a tenant is to be woken, or that it need not be. */
  book(slug: string, at: number | null): void {
    this.#calls.delete(slug)
    this.#unstored.set(slug, at)
    try {
      this.#store()
    } catch (reason) {
      report(reason, 'alarms')
      this.#setTimer(Date.now() + RETRY)
      return
    }
    // A timer that comes too early finds nothing to do, and looks for the next.
    if (at !== null && at < this.#timerAt) this.#setTimer(at)
  }

  /** The same; settles when it is on the disk. */
  async bookSafely(slug: string, at: number | null): Promise<void> {
    this.book(slug, at)
    if (this.#unstored.has(slug)) throw new Problem('unavailable', 'The disk does not take the alarm of a tenant.')
    await this.#sql.pending()
  }

  /** Books the same time for many tenants. */
  bookAll(slugs: readonly string[], at: number): void {
    for (const slug of slugs) this.#unstored.set(slug, at)
    this.#store()
  }

  /** Rings what is due, and waits for the next. */
  start(): void {
    this.#setTimer(this.#isSilent ? null : this.#next())
  }

  /** Wakes no more tenants: the service stops. Alarms can still be booked, and ring after the next start. */
  silence(): void {
    this.#isSilent = true
    this.#setTimer(null)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.silence()
    const isStored = succeeds(() => this.#store())
    // What it has taken comes to the disk now.
    const isClosed = succeeds(() => this.#sql.close())
    if (!isStored || !isClosed) for (const suffix of SUFFIXES) rmSync(`${this.#path}${suffix}`, { force: true })
  }

  /** Stores the bookings that are in memory only. */
  #store(): void {
    if (this.#unstored.size === 0) return
    this.#attempt((sql) =>
      sql.transaction(() => {
        for (const [slug, at] of this.#unstored)
          if (at === null) sql.run('DELETE FROM alarms WHERE tenant = ?', slug)
          else sql.run(BOOK, slug, at)
      }),
    )
    this.#unstored.clear()
  }

  /** Uses the file. After a failure it is opened again: a connection whose disk has failed once refuses everything. */
  #attempt<T>(work: (sql: NodeSql) => T): T {
    try {
      return work(this.#sql)
    } catch {
      try {
        this.#sql.close()
      } catch {
        // The disk still fails, or the connection was closed when it did and could not be opened again.
      }
      this.#sql = open(this.#path)
      return work(this.#sql)
    }
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
    const rows = this.#attempt((sql) =>
      sql.rows('SELECT tenant, at FROM alarms ORDER BY at LIMIT ?', this.#calls.size + 1),
    )
    const free = rows.find(([slug]) => !this.#calls.has(slug as string))?.[1] as number | undefined
    const next = Math.min(free ?? Number.POSITIVE_INFINITY, ...[...this.#calls.values()].map(({ until }) => until))
    return Number.isFinite(next) ? next : null
  }

  /** Rings what is due. When the disk fails, it tries again soon. */
  #ring(): void {
    try {
      this.#ringDue(Date.now())
    } catch (reason) {
      report(reason, 'alarms')
      this.#setTimer(Date.now() + RETRY)
    }
  }

  /** An alarm is deleted once its tenant is awake, and not before: a crash in between rings again. */
  #ringDue(now: number): void {
    this.#store()
    const most = AT_ONCE + this.#calls.size
    const due = this.#attempt((sql) =>
      sql.rows('SELECT tenant, at FROM alarms WHERE at <= ? ORDER BY at LIMIT ?', now, most),
    )
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
    try {
      this.#attempt((sql) => sql.run(FORGET, JSON.stringify(slugs)))
    } catch (reason) {
      // They ring once more.
      report(reason, 'alarms')
      return
    }
    for (const slug of slugs) this.#calls.delete(slug)
  }

  #retry(slug: string, call: Call): void {
    if (this.#isSilent || this.#calls.get(slug) !== call) return
    call.until = Date.now() + Math.min(RETRY * 2 ** (call.failures - 1), LEASE)
    this.#ring()
  }
}

const BOOK = `
  INSERT INTO alarms (tenant, at)
  VALUES (?, ?)
  ON CONFLICT (tenant) DO UPDATE SET at = excluded.at`
const FORGET = 'DELETE FROM alarms WHERE tenant IN (SELECT value FROM json_each(?))'

function open(path: string): NodeSql {
  // Many are booked at once when many tenants are closed: the disk takes these together.
  const sql = openSql(path, { deferred: true })
  try {
    sql.run('CREATE TABLE IF NOT EXISTS alarms (tenant TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID')
    sql.run('CREATE INDEX IF NOT EXISTS alarms_at ON alarms (at)')
    return sql
  } catch (reason) {
    // It owns the file: if it stays open, the file cannot be opened again.
    sql.close()
    throw reason
  }
}

/** Does what a failing disk may refuse, and reports that. */
function succeeds(work: () => void): boolean {
  try {
    work()
    return true
  } catch (reason) {
    report(reason, 'alarms')
    return false
  }
}
