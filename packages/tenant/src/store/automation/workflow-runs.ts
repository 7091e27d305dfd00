import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'

export type RunState = 'Waiting' | 'Running' | 'Succeeded' | 'Failed' | 'Cancelled'

/** What made a run: of a workflow, or the verb that calls an agent. */
type RunTrigger = 'event' | 'schedule' | 'manual' | 'retry' | 'call'

/** The fields of the workflow that decide what a run does; the rights are of earlier versions. */
export interface RunDefinition {
  readonly behaviour: JsonObject
  readonly rights?: string
}

/** One run of a workflow, or one call of an agent. */
export interface RunRow {
  readonly n: number
  readonly id: string
  /** The workflow, or the agent of a call. */
  readonly workflow: string
  readonly trigger: RunTrigger
  /** The event that it runs for; null when it runs by schedule. */
  readonly seq: number | null
  /** The time of that event, or that it was scheduled for. */
  readonly at: number
  readonly state: RunState
  /** When it continues; null once it has ended, and while its workflow is paused. */
  readonly due: number | null
  /** How many hooks or workflows, one after the other, led to it. */
  readonly hops: number
  readonly retryOf: string | null
  readonly retriedBy: string | null
  /** What it runs, from its start on: a later change of the workflow does not change it. */
  readonly definition: RunDefinition | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly error: string | null
}

type NewRun = Pick<RunRow, 'id' | 'workflow' | 'trigger' | 'seq' | 'at' | 'due' | 'hops'> & {
  readonly retryOf?: string
}

/** Adds a run that waits. Returns its number. */
export function addRun(sql: Sql, run: NewRun): number {
  return sql.rows(
    `INSERT INTO workflow_runs (id, workflow, trigger, seq, at, state, due, hops, retry_of)
    VALUES (?, ?, ?, ?, ?, 'Waiting', ?, ?, ?)
    RETURNING n`,
    run.id,
    run.workflow,
    run.trigger,
    run.seq,
    run.at,
    run.due,
    run.hops,
    run.retryOf ?? null,
  )[0]![0]
}

export function runOf(sql: Sql, workflow: string, id: string): RunRow | undefined {
  return sql.rows(`${SELECT} WHERE id = ? AND workflow = ?`, id, workflow).map(toRun)[0]
}

/** The definitions of the runs of a workflow that have not ended. */
export function openDefinitions(sql: Sql, workflow: string): readonly RunDefinition[] {
  return sql
    .rows('SELECT definition FROM workflow_runs WHERE workflow = ? AND ended_at IS NULL', workflow)
    .flatMap(([definition]) => (definition === null ? [] : [JSON.parse(definition) as RunDefinition]))
}

/** The definitions with which runs began, after one of them in order. */
export function definitionsAfter(
  sql: Sql,
  after: number,
  limit: number,
): { readonly n: number; readonly workflow: string; readonly trigger: string; readonly text: string }[] {
  return sql
    .rows(
      `SELECT n, workflow, trigger, definition FROM workflow_runs WHERE n > ? AND definition IS NOT NULL ORDER BY n LIMIT +?`,
      after,
      limit,
    )
    .map(([n, workflow, trigger, text]) => ({ n, workflow, trigger, text }))
}

/** Replaces the definition of a run. */
export function changeDefinition(sql: Sql, n: number, definition: string): void {
  sql.run('UPDATE workflow_runs SET definition = ? WHERE n = ?', definition, n)
}

/** The runs of a workflow that have not ended. */
export function openRuns(sql: Sql, workflow: string): RunRow[] {
  return sql.rows(`${SELECT} WHERE workflow = ? AND ended_at IS NULL`, workflow).map(toRun)
}

export function runAt(sql: Sql, n: number): RunRow | undefined {
  return sql.rows(`${SELECT} WHERE n = ?`, n).map(toRun)[0]
}

/** Runs of a workflow in some states, newest first, before one of them. */
export function listRuns(
  sql: Sql,
  workflow: string,
  states: readonly RunState[],
  before: number,
  limit: number,
): RunRow[] {
  return sql
    .rows(
      `${SELECT}
      WHERE workflow = ? AND state IN (SELECT value FROM json_each(?)) AND n < ?
      ORDER BY n DESC
      LIMIT +?`,
      workflow,
      JSON.stringify(states),
      before,
      limit,
    )
    .map(toRun)
}

export function countRuns(sql: Sql, workflow: string, states: readonly RunState[]): number {
  return sql.rows(
    'SELECT count(*) FROM workflow_runs WHERE workflow = ? AND state IN (SELECT value FROM json_each(?))',
    workflow,
    JSON.stringify(states),
  )[0]![0]
}

/** Workflows and runs that are in progress elsewhere. */
export interface InProgress {
  readonly workflows: Iterable<string>
  readonly runs: Iterable<number>
}

/** A run that is due. */
export type DueRun = Pick<RunRow, 'n' | 'id' | 'workflow'>

/** Runs that are due, without those in progress, in the order of time. */
export function dueRuns(sql: Sql, now: number, { workflows, runs }: InProgress, limit: number): DueRun[] {
  return sql
    .rows(
      `SELECT n, id, workflow
      FROM workflow_runs
      WHERE due <= ?
        AND workflow NOT IN (SELECT value FROM json_each(?))
        AND n NOT IN (SELECT value FROM json_each(?))
      ORDER BY due, n
      LIMIT +?`,
      now,
      JSON.stringify([...workflows]),
      JSON.stringify([...runs]),
      limit,
    )
    .map(([n, id, workflow]) => ({ n, id, workflow }))
}

/** When the next run is due, without those in progress, or null. */
export function nextRun(sql: Sql, { workflows, runs }: InProgress): number | null {
  return sql.rows(
    `SELECT min(due)
    FROM workflow_runs
    WHERE due IS NOT NULL
      AND workflow NOT IN (SELECT value FROM json_each(?))
      AND n NOT IN (SELECT value FROM json_each(?))`,
    JSON.stringify([...workflows]),
    JSON.stringify([...runs]),
  )[0]![0]
}

export function startRun(sql: Sql, n: number, definition: RunDefinition, at: number): void {
  sql.run(
    `UPDATE workflow_runs SET state = 'Running', definition = ?, started_at = coalesce(started_at, ?) WHERE n = ?`,
    JSON.stringify(definition),
    at,
    n,
  )
}

/** A run that has waited continues. */
export function continueRun(sql: Sql, n: number): void {
  sql.run(`UPDATE workflow_runs SET state = 'Running' WHERE n = ?`, n)
}

export function endRun(sql: Sql, n: number, state: RunState, at: number, error: string | null): void {
  sql.run(
    'UPDATE workflow_runs SET state = ?, due = NULL, ended_at = ?, error = ? WHERE n = ?',
    state,
    at,
    error?.slice(0, 1_000) ?? null,
    n,
  )
}

/** Lets a run wait in one of its steps, until a time or for what ends the wait. */
export function waitRun(sql: Sql, n: number, due: number | null): void {
  sql.run(`UPDATE workflow_runs SET state = 'Waiting', due = ? WHERE n = ?`, due, n)
}

/** Lets a run wait until a time, or until its workflow is activated again. */
export function holdRun(sql: Sql, n: number, due: number | null): void {
  sql.run('UPDATE workflow_runs SET due = ? WHERE n = ?', due, n)
}

/** Lets the runs continue that waited for their workflow. */
export function resumeRuns(sql: Sql, workflow: string, due: number): void {
  sql.run('UPDATE workflow_runs SET due = ? WHERE workflow = ? AND ended_at IS NULL AND due IS NULL', due, workflow)
}

/** Lets all runs continue that have not ended: their workflow has, and so do they. */
export function continueRuns(sql: Sql, workflow: string, due: number): void {
  sql.run('UPDATE workflow_runs SET due = ? WHERE workflow = ? AND ended_at IS NULL', due, workflow)
}

export function markRetried(sql: Sql, n: number, by: string): void {
  sql.run('UPDATE workflow_runs SET retried_by = ? WHERE n = ?', by, n)
}

/** When the first run ended that is still kept, or null. */
export function oldestEnd(sql: Sql): number | null {
  return sql.rows('SELECT min(ended_at) FROM workflow_runs WHERE ended_at IS NOT NULL')[0]![0]
}

/** Forgets some runs that ended before a time. */
export function forgetRuns(sql: Sql, before: number, limit: number): void {
  const runs = sql.rows('SELECT n FROM workflow_runs WHERE ended_at <= ? ORDER BY ended_at LIMIT +?', before, limit)
  const list = JSON.stringify(runs.map(([n]) => n))
  sql.run('DELETE FROM asks WHERE run IN (SELECT value FROM json_each(?))', list)
  sql.run('DELETE FROM workflow_calls WHERE run IN (SELECT value FROM json_each(?))', list)
  sql.run('DELETE FROM workflow_steps WHERE run IN (SELECT value FROM json_each(?))', list)
  sql.run('DELETE FROM workflow_runs WHERE n IN (SELECT value FROM json_each(?))', list)
}

/** Forgets the runs of a copy that have not ended, or not until a time: the origin continues with them. */
export function forgetOpenRuns(sql: Sql, until: number): void {
  sql.run('DELETE FROM workflow_runs WHERE ended_at IS NULL OR ended_at > ?', until)
  for (const table of ['workflow_calls', 'workflow_steps', 'waits', 'asks']) {
    sql.run(`DELETE FROM ${table} WHERE run NOT IN (SELECT n FROM workflow_runs)`)
  }
}

const SELECT = `
  SELECT n, id, workflow, trigger, seq, at, state, due, hops, retry_of, retried_by, definition, started_at, ended_at, error
  FROM workflow_runs`

function toRun(row: SqlRow): RunRow {
  const [
    n,
    id,
    workflow,
    trigger,
    seq,
    at,
    state,
    due,
    hops,
    retryOf,
    retriedBy,
    definition,
    startedAt,
    endedAt,
    error,
  ] = row
  return {
    n,
    id,
    workflow,
    trigger,
    seq,
    at,
    state,
    due,
    hops,
    retryOf,
    retriedBy,
    definition: definition === null ? null : JSON.parse(definition),
    startedAt,
    endedAt,
    error,
  }
}
