import type { Sql } from '../../ports.ts'

/** A hook that still has to run for an event. */
export interface QueuedHook {
  readonly id: number
  readonly seq: number
  /** The place of one of the operator's hooks, or the id of a stored one. */
  readonly hook: string
  /** How many hooks, one after the other, led to the event. */
  readonly hops: number
  readonly failures: number
}

/** A hook that failed: it is due again, or parked. */
export interface FailedHook extends QueuedHook {
  readonly due: number | null
  readonly error: string
}

export function enqueueHook(sql: Sql, seq: number, hook: string, hops: number, due: number): void {
  sql.run('INSERT INTO after_hook_queue (seq, hook, hops, failures, due) VALUES (?, ?, ?, 0, ?)', seq, hook, hops, due)
}

/** Notes a hook that will not run, and why. */
export function parkHook(sql: Sql, seq: number, hook: string, hops: number, error: string): void {
  sql.run(
    'INSERT INTO after_hook_queue (seq, hook, hops, failures, error) VALUES (?, ?, ?, 1, ?)',
    seq,
    hook,
    hops,
    error,
  )
}

export function dueHooks(sql: Sql, now: number): QueuedHook[] {
  return sql
    .rows('SELECT id, seq, hook, hops, failures FROM after_hook_queue WHERE due <= ? ORDER BY due, id LIMIT 100', now)
    .map(([id, seq, hook, hops, failures]) => ({ id, seq, hook, hops, failures }))
}

/** The newest failures of one hook. */
export function failedHooks(sql: Sql, hook: string, limit: number): FailedHook[] {
  return sql
    .rows(
      `SELECT id, seq, hook, hops, failures, due, error
      FROM after_hook_queue
      WHERE hook = ? AND error IS NOT NULL
      ORDER BY id DESC
      LIMIT +?`,
      hook,
      limit,
    )
    .map(([id, seq, hook, hops, failures, due, error]) => ({ id, seq, hook, hops, failures, due, error }))
}

/** When the next hook is due, or null. */
export function nextHookDue(sql: Sql): number | null {
  return sql.rows('SELECT min(due) FROM after_hook_queue')[0]![0]
}

export function removeHook(sql: Sql, id: number): void {
  sql.run('DELETE FROM after_hook_queue WHERE id = ?', id)
}

/** Books a failed hook again, or parks it permanently: the row stays to be looked at. */
export function retryHook(sql: Sql, id: number, failures: number, due: number | null, error: string): void {
  sql.run(
    'UPDATE after_hook_queue SET failures = ?, due = ?, error = ? WHERE id = ?',
    failures,
    due,
    error.slice(0, 1_000),
    id,
  )
}
