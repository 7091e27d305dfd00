import type { JsonObject } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { removeMeta, setMeta } from './meta.ts'

/** A task as it is kept: what it does, for whom, and what came of it. It holds no values of entities. */
export interface KeptTask {
  readonly id: string
  readonly title: string
  readonly actor: string
  readonly onBehalfOf: string | null
  readonly startedAt: number
  /** A task that is kept as `running` after a restart was cut off, and has changed nothing. */
  readonly state: 'running' | 'done' | 'failed' | 'cancelled'
  readonly endedAt: number | null
  readonly done: number
  readonly total: number
  readonly result: JsonObject | null
  readonly error: { readonly code: string; readonly message: string } | null
}

const MOST_KEPT = 100
const PREFIX = 'task.'

/** Keeps a task, in place of an earlier state of it. The oldest are forgotten. */
export function keepTask(sql: Sql, task: KeptTask): void {
  setMeta(sql, `${PREFIX}${task.id}`, JSON.stringify(task))
  for (const { id } of keptTasks(sql).slice(MOST_KEPT)) removeMeta(sql, `${PREFIX}${id}`)
}

/** The tasks that are kept, newest first. */
export function keptTasks(sql: Sql): KeptTask[] {
  return sql
    .rows(`SELECT value FROM meta WHERE key >= ? AND key < 'task/' ORDER BY key DESC`, PREFIX)
    .map(([value]) => JSON.parse(value) as KeptTask)
}

/** Forgets the tasks of a copy: they are those of its origin. */
export function forgetTasks(sql: Sql): void {
  sql.run(`DELETE FROM meta WHERE key >= ? AND key < 'task/'`, PREFIX)
}
