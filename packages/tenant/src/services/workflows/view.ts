import { isoOf, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import { maySeeValues } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { countRuns, listRuns, type RunRow, type RunState, runOf } from '../../store/automation/workflow-runs.ts'
import { type StepRow, stepsOf } from '../../store/automation/workflow-steps.ts'
import { readEntry } from '../../store/log/log.ts'
import { notFound } from '../../write/verb.ts'
import { callOf } from '../agents/author.ts'
import { authoredRun, currentRunner, type Runner } from './author.ts'
import { definitionOf } from './definition.ts'
import { aboutStep, kindOf, type Step, undoPlace } from './steps/step.ts'

const STATES: readonly RunState[] = ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled']

/** Which runs are asked for: newest first, before one of them. */
export interface RunQuestion {
  readonly status: string | null
  readonly cursor: string | null
  readonly limit: number
}

/**
 * The runs of a workflow, or the calls of an agent, in the list envelope, without their steps. A key that may not read all
 * that the workflow reads sees neither events nor errors.
 */
export function runsOf(
  engine: Engine,
  grant: Grant,
  workflow: string,
  question: RunQuestion,
  type: Runner = 'Workflow',
): JsonObject {
  demandRunner(engine, grant, type, workflow)
  const { status, cursor, limit } = question
  const current = currentRunner(engine, type, workflow)
  const states = status === null ? STATES : STATES.filter((state) => state.toLowerCase() === status.toLowerCase())
  if (states.length === 0) {
    throw new Problem('invalid_parameter', `status is ${STATES.join(', ')}.`, { field: 'status' })
  }
  const found = listRuns(engine.sql, workflow, states, placeOf(engine, workflow, cursor), limit + 1)
  const shown = found.slice(0, limit)
  const hasMore = found.length > limit
  return {
    results: shown.map((run) => headOf(engine, run, isOpenTo(engine, grant, run, current))),
    total: countRuns(engine.sql, workflow, states),
    hasMore,
    cursor: hasMore ? shown.at(-1)!.id : null,
  }
}

/** One run with its steps, or the problem of there being none. */
export function runWithId(
  engine: Engine,
  grant: Grant,
  workflow: string,
  id: string,
  type: Runner = 'Workflow',
): JsonObject {
  demandRunner(engine, grant, type, workflow)
  const run = runOf(engine.sql, workflow, id)
  if (!run) throw new Problem('not_found', `This ${type} has no run ${id.slice(0, 60)}.`, { type, id })
  return runView(engine, grant, run)
}

/** A run with its steps. A key that may not read all that the workflow reads sees no values. */
export function runView(engine: Engine, grant: Grant, run: RunRow): JsonObject {
  const isOpen = isOpenTo(engine, grant, run, currentRunner(engine, runnerOf(run), run.workflow))
  const rows = new Map(stepsOf(engine.sql, run.n).map((row) => [row.step, row]))
  const declared = run.definition
    ? (run.trigger === 'call' ? callOf : definitionOf)(run.definition.behaviour).steps
    : []
  return {
    ...headOf(engine, run, isOpen),
    steps: [
      ...declared.map((step, i) => stepView(step, i, rows.get(i), run, isOpen)),
      ...declared.flatMap(({ undo }, i) => {
        const row = rows.get(undoPlace(i))
        return undo && row ? [{ ...stepView(undo, i, row, run, isOpen), undo: true }] : []
      }),
    ],
  }
}

/** Whether a grant may see the values of a run: it covers the author of the workflow, and of the definition that ran. */
function isOpenTo(engine: Engine, grant: Grant, run: RunRow, current: ReturnType<typeof currentRunner>): boolean {
  const ran = run.definition && authoredRun(engine, run, run.definition.behaviour)
  return maySeeValues(engine, grant, current) && (ran === null || maySeeValues(engine, grant, ran))
}

function runnerOf({ trigger }: Pick<RunRow, 'trigger'>): Runner {
  return trigger === 'call' ? 'Agent' : 'Workflow'
}

/** A run without its steps. */
function headOf(engine: Engine, run: RunRow, isOpen: boolean): JsonObject {
  const event = run.seq === null || !isOpen ? undefined : readEntry(engine.sql, run.seq)
  return {
    id: run.id,
    [runnerOf(run).toLowerCase()]: run.workflow,
    status: run.state,
    trigger: run.trigger,
    event: event ? { id: event.id, type: `${event.type}.${event.event}`, seq: event.seq } : null,
    scheduledAt: run.seq === null ? isoOf(run.at) : null,
    startedAt: timeOf(run.startedAt),
    endedAt: timeOf(run.endedAt),
    duration: durationOf(run),
    nextAttemptAt: run.endedAt === null && run.startedAt !== null ? timeOf(run.due) : null,
    error: isOpen ? run.error : null,
    retryOf: run.retryOf,
    retriedBy: run.retriedBy,
  }
}

function stepView(step: Step, i: number, row: StepRow | undefined, run: RunRow, isOpen: boolean): JsonObject {
  const status = row?.state ?? (run.endedAt === null ? 'Pending' : 'Skipped')
  return {
    step: i,
    ...(isOpen || 'verb' in step ? aboutStep(step) : { [kindOf(step)]: null }),
    ...(step.fallback && { fallback: true }),
    status,
    tries: row?.tries ?? 0,
    startedAt: timeOf(row?.startedAt ?? null),
    endedAt: timeOf(row?.endedAt ?? null),
    duration: row ? durationOf(row) : null,
    ...(isOpen
      ? { input: parsed(row?.input), output: parsed(row?.output), error: row?.error ?? null }
      : { hidden: true }),
  }
}

/** Refuses a grant that may not read this workflow or agent. */
export function demandRunner(engine: Engine, grant: Grant, type: Runner, id: string): void {
  const noun = engine.noun(type)
  demand(grant, 'read', noun)
  if (!isVisible(engine, grant, noun, id)) throw notFound(noun.name, id)
}

function placeOf({ sql }: Engine, workflow: string, cursor: string | null): number {
  if (cursor === null) return Number.MAX_SAFE_INTEGER
  const run = runOf(sql, workflow, cursor)
  if (run) return run.n
  throw new Problem('invalid_cursor', `${cursor.slice(0, 60)} is not a cursor of this list.`, { field: 'cursor' })
}

function durationOf({ startedAt, endedAt }: { startedAt: number | null; endedAt: number | null }): number | null {
  return startedAt === null || endedAt === null ? null : endedAt - startedAt
}

function timeOf(at: number | null): string | null {
  return at === null ? null : isoOf(at)
}

function parsed(text: string | null | undefined): Json {
  return text === null || text === undefined ? null : (JSON.parse(text) as Json)
}
