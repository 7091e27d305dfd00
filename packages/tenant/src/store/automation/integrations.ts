import type { Sql } from '../../ports.ts'

/** What is kept of a connected integration in addition to its entity. No query of a client can name this table. */
export const INTEGRATIONS = [
  // `credentials` are encrypted with the key of the host, and belong to `address` alone. `since` is the time of the last run
  // that ended well, `due` that of a run which was asked for, `next_at` the next one of the schedule.
  `CREATE TABLE integrations (
    id TEXT PRIMARY KEY,
    credentials TEXT NOT NULL,
    address TEXT NOT NULL,
    since TEXT,
    due INTEGER,
    next_at INTEGER) WITHOUT ROWID`,
] as const

/** An integration that is connected. */
export interface Connected {
  readonly id: string
  /** Encrypted. */
  readonly credentials: string
  readonly address: string
  readonly since: string | null
}

export function saveConnected(sql: Sql, id: string, credentials: string, address: string): void {
  sql.run(
    `INSERT INTO integrations (id, credentials, address) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET credentials = excluded.credentials, address = excluded.address`,
    id,
    credentials,
    address,
  )
}

export function connectedOf(sql: Sql, id: string): Connected | null {
  const row = sql.rows('SELECT credentials, address, since FROM integrations WHERE id = ?', id)[0]
  return row ? { id, credentials: row[0], address: row[1], since: row[2] } : null
}

/** The integrations that are connected, the oldest first. */
export function connectedIds(sql: Sql): string[] {
  return sql.rows('SELECT id FROM integrations ORDER BY id').map(([id]) => id)
}

/** Notes how far a mailbox was read. */
export function savePlace(sql: Sql, id: string, place: string): void {
  sql.run('UPDATE integrations SET since = ? WHERE id = ?', place, id)
}

export function dropConnected(sql: Sql, id: string): void {
  sql.run('DELETE FROM integrations WHERE id = ?', id)
}

/** Asks for a run at a time. */
export function requestRun(sql: Sql, id: string, at: number): void {
  sql.run('UPDATE integrations SET due = ? WHERE id = ?', at, id)
}

/** When the schedule has its next run; null for none. */
export function scheduleRun(sql: Sql, id: string, at: number | null): void {
  sql.run('UPDATE integrations SET next_at = ? WHERE id = ?', at, id)
}

/** Ends a run: everything until `since` was read; null if it failed. */
export function endRun(sql: Sql, id: string, since: string | null): void {
  sql.run('UPDATE integrations SET due = NULL, since = coalesce(?, since) WHERE id = ?', since, id)
}

/** Above every time: a run that has begun is not due. */
const BEGUN = 8_000_000_000_000_000

/** Begins a run. It is not due until it ends, and is due again when it is interrupted. */
export function beginRun(sql: Sql, id: string): void {
  sql.run('UPDATE integrations SET due = ?, next_at = NULL WHERE id = ?', BEGUN, id)
}

/** Makes runs due again that were interrupted. Most tenants have none: no commit is made for them. */
export function resumeRuns(sql: Sql, now: number): void {
  if (sql.rows('SELECT 1 FROM integrations WHERE due = ? LIMIT 1', BEGUN).length === 0) return
  sql.run('UPDATE integrations SET due = ? WHERE due = ?', now, BEGUN)
}

/** The earliest time at which a run is due. */
export function nextRun(sql: Sql): number | null {
  const row = sql.rows('SELECT min(due), min(next_at) FROM integrations')[0]!
  const times = row.filter((at): at is number => at !== null && at < BEGUN)
  return times.length === 0 ? null : Math.min(...times)
}

export function dueRuns(sql: Sql, now: number): string[] {
  return sql.rows('SELECT id FROM integrations WHERE due <= ? OR next_at <= ? ORDER BY id', now, now).map(([id]) => id)
}
