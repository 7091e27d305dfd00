import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'

/** What became of a question. */
export type AskState = 'Open' | 'Answered' | 'Expired' | 'Cancelled'

/** A question that a run asks a person or a role. */
export interface AskRow {
  readonly n: number
  readonly id: string
  readonly run: number
  readonly step: number
  readonly workflow: string
  /** `role:<name>`, or the id of a User. */
  readonly of: string
  readonly title: string
  /** What to answer besides yes or no, in the noun notation. */
  readonly fields: JsonObject | null
  readonly state: AskState
  readonly askedAt: number
  readonly due: number | null
  readonly answer: JsonObject | null
  readonly answeredBy: string | null
  readonly answeredAt: number | null
}

export function addAsk(
  sql: Sql,
  ask: Pick<AskRow, 'id' | 'run' | 'step' | 'workflow' | 'of' | 'title' | 'fields' | 'askedAt' | 'due'>,
): void {
  sql.run(
    `INSERT INTO asks (id, run, step, workflow, of, title, fields, state, asked_at, due)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'Open', ?, ?)`,
    ask.id,
    ask.run,
    ask.step,
    ask.workflow,
    ask.of,
    ask.title,
    ask.fields && JSON.stringify(ask.fields),
    ask.askedAt,
    ask.due,
  )
}

export function askWithId(sql: Sql, id: string): AskRow | undefined {
  return sql.rows(`${SELECT} WHERE id = ?`, id).map(toAsk)[0]
}

/** The question of a step. */
export function askOf(sql: Sql, run: number, step: number): AskRow | undefined {
  return sql.rows(`${SELECT} WHERE run = ? AND step = ? ORDER BY n DESC LIMIT 1`, run, step).map(toAsk)[0]
}

/** Which questions: those to some people or roles, those of some workflows, or all. */
export type AskSelection = { readonly of: readonly string[] } | { readonly workflows: readonly string[] } | 'all'

/** Open questions, oldest first, after one of them. */
export function openAsks(sql: Sql, selection: AskSelection, after: number, limit: number): AskRow[] {
  const { where, values } = conditionOf(selection)
  return sql
    .rows(`${SELECT} WHERE state = 'Open' ${where} AND n > ? ORDER BY n LIMIT +?`, ...values, after, limit)
    .map(toAsk)
}

export function countOpenAsks(sql: Sql, selection: AskSelection): number {
  const { where, values } = conditionOf(selection)
  return sql.rows(`SELECT count(*) FROM asks WHERE state = 'Open' ${where}`, ...values)[0]![0]
}

/** The workflows with open questions. */
export function askingWorkflows(sql: Sql): string[] {
  return sql.rows(`SELECT DISTINCT workflow FROM asks WHERE state = 'Open'`).map(([workflow]) => workflow)
}

function conditionOf(selection: AskSelection): { readonly where: string; readonly values: readonly string[] } {
  if (selection === 'all') return { where: '', values: [] }
  const [column, list] = 'of' in selection ? ['of', selection.of] : ['workflow', selection.workflows]
  return { where: `AND ${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(list)] }
}

export function answerAsk(sql: Sql, id: string, answer: JsonObject, by: string, at: number): void {
  sql.run(
    `UPDATE asks SET state = 'Answered', answer = ?, answered_by = ?, answered_at = ? WHERE id = ?`,
    JSON.stringify(answer),
    by,
    at,
    id,
  )
}

/** Closes the open questions of a run. */
export function closeAsks(sql: Sql, run: number, state: AskState): void {
  sql.run(`UPDATE asks SET state = ? WHERE run = ? AND state = 'Open'`, state, run)
}

const SELECT = `
  SELECT n, id, run, step, workflow, of, title, fields, state, asked_at, due, answer, answered_by, answered_at
  FROM asks`

function toAsk(row: SqlRow): AskRow {
  const [n, id, run, step, workflow, of, title, fields, state, askedAt, due, answer, answeredBy, answeredAt] = row
  return {
    ...{ n, id, run, step, workflow, of, title, state, askedAt, due, answeredBy, answeredAt },
    fields: fields === null ? null : JSON.parse(fields),
    answer: answer === null ? null : JSON.parse(answer),
  }
}
