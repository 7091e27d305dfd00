import type { Sql } from '../ports.ts'

export interface After {
  readonly id: number
  readonly seq: number
  readonly hook: string
  readonly failures: number
}

export function addAfter(sql: Sql, seq: number, hook: string, due: number): void {
  sql.run('INSERT INTO afters (seq, hook, failures, due) VALUES (?, ?, 0, ?)', seq, hook, due)
}

export function dueAfters(sql: Sql, now: number): After[] {
  return sql
    .rows('SELECT id, seq, hook, failures FROM afters WHERE due <= ? ORDER BY due, id LIMIT 100', now)
    .map(([id, seq, hook, failures]) => ({ id, seq, hook, failures }))
}

/** When the next hook is due, or null. */
export function nextAfter(sql: Sql): number | null {
  return sql.rows('SELECT min(due) FROM afters')[0]![0]
}

export function doneAfter(sql: Sql, id: number): void {
  sql.run('DELETE FROM afters WHERE id = ?', id)
}

/** Books a failed hook again, or parks it for good: the row stays to be looked at. */
export function failAfter(sql: Sql, id: number, failures: number, due: number | null, error: string): void {
  sql.run('UPDATE afters SET failures = ?, due = ?, error = ? WHERE id = ?', failures, due, error.slice(0, 1_000), id)
}
