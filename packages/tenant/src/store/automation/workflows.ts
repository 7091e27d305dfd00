import type { Sql } from '../../ports.ts'
import { allOf } from '../entities.ts'

/** What is kept of a workflow in addition to its entity. */
export interface WorkflowRow {
  readonly id: string
  /** The rights that an earlier version kept, as JSON; empty for what this version stored. */
  readonly rights: string
  /** The event that created it, or that an earlier version took the rights from. */
  readonly seq: number
  /** When its schedule is next due, or null. */
  readonly nextAt: number | null
  /** How often it has failed in a row. */
  readonly failures: number
}

export function workflowRow(sql: Sql, id: string): WorkflowRow | undefined {
  const row = sql.rows('SELECT rights, seq, next_at, failures FROM workflows WHERE id = ?', id)[0]
  return row && { id, rights: row[0], seq: row[1], nextAt: row[2], failures: row[3] }
}

/** Makes room for the schedule and the failures of a workflow. */
export function addWorkflow(sql: Sql, id: string, seq: number): void {
  sql.run(
    `INSERT INTO workflows (id, rights, seq, next_at, failures)
    VALUES (?, '', ?, NULL, 0)
    ON CONFLICT (id) DO NOTHING`,
    id,
    seq,
  )
}

export function scheduleWorkflow(sql: Sql, id: string, nextAt: number | null): void {
  sql.run('UPDATE workflows SET next_at = ? WHERE id = ?', nextAt, id)
}

export function setFailures(sql: Sql, id: string, failures: number): void {
  sql.run('UPDATE workflows SET failures = ? WHERE id = ?', failures, id)
}

/** The workflows whose schedule is due, the earliest first. */
export function dueSchedules(sql: Sql, now: number): { readonly id: string; readonly at: number }[] {
  return sql
    .rows('SELECT id, next_at FROM workflows WHERE next_at <= ? ORDER BY next_at, id LIMIT 100', now)
    .map(([id, at]) => ({ id, at }))
}

/** When the next schedule is due, or null. */
export function nextSchedule(sql: Sql): number | null {
  return sql.rows('SELECT min(next_at) FROM workflows WHERE next_at IS NOT NULL')[0]![0]
}

/** The workflows that are there, with their state as JSON text. */
export function storedWorkflows(sql: Sql): { readonly id: string; readonly data: string }[] {
  return allOf(sql, 'Workflow')
}
