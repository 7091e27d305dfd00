import type { Sql } from '../../ports.ts'

type StepState = 'Running' | 'Waiting' | 'Succeeded' | 'Failed' | 'Skipped'

/** A step of a run that has begun. */
export interface StepRow {
  readonly step: number
  readonly state: StepState
  /** How often it was tried. */
  readonly tries: number
  /** What it ran with and what it gave, as JSON text; null once erased. */
  readonly input: string | null
  readonly output: string | null
  readonly error: string | null
  readonly startedAt: number
  readonly endedAt: number | null
}

export function stepsOf(sql: Sql, run: number): StepRow[] {
  return sql
    .rows(
      `SELECT step, state, tries, input, output, error, started_at, ended_at
      FROM workflow_steps
      WHERE run = ?
      ORDER BY step`,
      run,
    )
    .map(([step, state, tries, input, output, error, startedAt, endedAt]) => ({
      step,
      state,
      tries,
      input,
      output,
      error,
      startedAt,
      endedAt,
    }))
}

export function saveStep(sql: Sql, run: number, row: StepRow): void {
  sql.run(
    `INSERT OR REPLACE INTO workflow_steps (run, step, state, tries, input, output, error, started_at, ended_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run,
    row.step,
    row.state,
    row.tries,
    row.input,
    row.output,
    row.error?.slice(0, 1_000) ?? null,
    row.startedAt,
    row.endedAt,
  )
}

/** Copies the succeeded steps of another run, and what its code has written, to a run. */
export function copySteps(sql: Sql, from: number, to: number): void {
  sql.run(
    `INSERT INTO workflow_steps (run, step, state, tries, input, output, error, started_at, ended_at)
    SELECT ?, step, state, tries, input, output, error, started_at, ended_at
    FROM workflow_steps
    WHERE run = ? AND state IN ('Succeeded', 'Skipped')`,
    to,
    from,
  )
  sql.run(
    `INSERT INTO workflow_calls (run, step, call, request, answer)
    SELECT ?, step, call, request, answer
    FROM workflow_calls
    WHERE run = ?`,
    to,
    from,
  )
}

/** What the code of a step has written before, in order: each request with its answer, as JSON texts. */
export function callsOf(sql: Sql, run: number, step: number): [request: string, answer: string][] {
  return sql.rows('SELECT request, answer FROM workflow_calls WHERE run = ? AND step = ? ORDER BY call', run, step) as [
    string,
    string,
  ][]
}

export function saveCall(sql: Sql, run: number, step: number, call: number, request: string, answer: string): void {
  sql.run(
    'INSERT INTO workflow_calls (run, step, call, request, answer) VALUES (?, ?, ?, ?, ?)',
    run,
    step,
    call,
    request,
    answer,
  )
}

/**
 * Takes an entity's values out of what runs have kept: out of those for its events, which end at once, and wherever its id
 * is. `seqs` is the JSON text of the list of its events.
 */
export function eraseFromRuns(sql: Sql, id: string, seqs: string): void {
  const runs = 'run IN (SELECT n FROM workflow_runs WHERE seq IN (SELECT value FROM json_each(?)))'
  sql.run(
    `UPDATE workflow_steps
    SET input = NULL, output = NULL, error = NULL
    WHERE ${runs} OR instr(coalesce(input, ''), ?) > 0 OR instr(coalesce(output, ''), ?) > 0`,
    seqs,
    id,
    id,
  )
  sql.run(
    `DELETE FROM workflow_calls
    WHERE ${runs} OR instr(request, ?) > 0 OR instr(answer, ?) > 0`,
    seqs,
    id,
    id,
  )
  sql.run(
    `UPDATE asks
    SET title = '', answer = NULL
    WHERE ${runs} OR instr(title, ?) > 0 OR instr(coalesce(answer, ''), ?) > 0`,
    seqs,
    id,
    id,
  )
  sql.run(
    `UPDATE workflow_runs
    SET error = NULL, due = CASE WHEN ended_at IS NULL THEN 0 END
    WHERE seq IN (SELECT value FROM json_each(?))`,
    seqs,
  )
}
