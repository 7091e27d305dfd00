import { isoOf, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, grantFor } from '../../grant/grant.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { holdRun, type RunRow, runAt, startRun } from '../../store/automation/workflow-runs.ts'
import { type StepRow, saveStep, stepsOf } from '../../store/automation/workflow-steps.ts'
import { currentOf } from '../../store/entities.ts'
import { readEntry } from '../../store/log/log.ts'
import { eventView } from '../../view/event.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { HOOKS_PENDING } from '../../write/stored-hooks.ts'
import type { Write } from '../../write/write.ts'
import { answerIn, type ScriptCall } from '../scripts/call.ts'
import { runNow } from '../scripts/run-write.ts'
import { authoredWorkflow, behaviourOf } from './author.ts'
import type { Definition, Step, VerbStep } from './definition.ts'
import { end } from './end.ts'
import { nextStep, type StepOutcome } from './interpret.ts'
import { resolve, type Sources } from './values.ts'

/** Workflows and hooks that lead to each other: past this it is a loop. */
const MOST_HOPS = 16
const LONGEST_WAIT = 86_400_000

/** The code of a step, which runs outside of transactions. */
export interface CodeTask {
  readonly run: RunRow
  readonly step: number
  readonly code: string
  readonly sources: Sources
  readonly grant: Grant
  /** When the run has to be over, or null. */
  readonly deadline: number | null
}

/** What became of the code of a step. */
export type CodeOutcome = { readonly result: Json } | { readonly problem: Problem }

/** A run with what it needs to continue. */
interface Progress {
  readonly run: RunRow
  readonly definition: Definition
  readonly steps: Map<number, StepRow>
  readonly event: JsonObject
}

/**
 * Continues with a run: verb after verb, until it ends, waits, or comes to code. All of it is one transaction: a verb, its
 * mark in the run, and the end of the run are written together.
 */
export function advance(
  transactor: Transactor,
  n: number,
  outcome: { readonly step: number; readonly of: CodeOutcome } | null = null,
): CodeTask | null | Promise<CodeTask | null> {
  const { engine } = transactor
  const run = runAt(engine.sql, n)
  if (!run || run.endedAt !== null) return null
  const acting = actingIn(engine, run)
  const context = { hops: run.hops + 1, correlation: run.id }
  // Without an author nothing but the end of the run is written.
  return runNow(transactor, acting?.grant ?? grantFor('system'), context, (write) =>
    proceed(write, n, acting?.declaration ?? null, outcome),
  )
}

/** What a run does, and the rights of the author who stored that. A run keeps the definition with which it began. */
function actingIn(engine: Engine, run: RunRow): { readonly declaration: Definition; readonly grant: Grant } | null {
  const current = currentOf(engine.sql, 'Workflow', run.workflow)
  const behaviour = run.definition?.behaviour ?? (current && (JSON.parse(current.data) as JsonObject))
  const stored = behaviour ? authoredWorkflow(engine, run.workflow, behaviour) : null
  return stored && act(stored)
}

/** The event that a run is for, as the workflow sees it; null when its author may not see it. */
function eventOf(engine: Engine, { id, seq, at, workflow }: RunRow, grant: Grant): JsonObject | null {
  const row = seq === null ? undefined : readEntry(engine.sql, seq)
  if (row) {
    const shown = visibilityOf(engine, grant, null).show(row)
    return shown && eventView(shown, engine)
  }
  return { id, type: 'Workflow.scheduled', timestamp: isoOf(at), tenant: engine.slug, entityId: workflow, data: {} }
}

/** A step as a call on the tenant, with its values resolved; a problem when the id that it names is not there. */
export function callOf(step: VerbStep, sources: Sources): { input: JsonObject; call: ScriptCall | Problem } {
  const args = (resolve(step.args ?? {}, sources) ?? {}) as JsonObject
  const id = step.id === undefined ? undefined : resolve(step.id, sources)
  if (step.id !== undefined && typeof id !== 'string') {
    const message = `The id of the step, ${step.id}, has no value.`
    return { input: { args }, call: new Problem('invalid_parameter', message, { field: 'id' }) }
  }
  const given = typeof id === 'string' ? [id, args] : [args]
  return {
    input: { ...(typeof id === 'string' && { id }), args },
    call: { type: step.type, operation: step.verb, args: given },
  }
}

function proceed(
  write: Write,
  n: number,
  definition: Definition | null,
  outcome: { readonly step: number; readonly of: CodeOutcome } | null,
): CodeTask | null {
  const { engine, sql, context } = write
  const run = runAt(sql, n)!
  if (run.endedAt !== null) return null
  const now = context.clock.now()
  const workflow = currentOf(sql, 'Workflow', run.workflow)
  const data = workflow ? (JSON.parse(workflow.data) as JsonObject) : {}
  if (!workflow || workflow.deleted || data.status === 'Archived') {
    return end(write, run, 'Cancelled', 'The workflow was deleted or archived.')
  }
  if (definition === null) return end(write, run, 'Failed', 'The workflow has no author. Store it again.')
  if (data.status !== 'Activated' && run.trigger !== 'retry') {
    holdRun(sql, n, null)
    return null
  }
  if (run.hops > MOST_HOPS) {
    return end(write, run, 'Failed', `${run.hops} workflows or hooks triggered each other. Remove the loop.`)
  }
  const behaviour = run.definition?.behaviour ?? behaviourOf(data)
  const event = eventOf(engine, run, write.grant)
  if (event === null) return end(write, run, 'Cancelled', 'The author of the workflow may not see its event.')
  if (run.startedAt === null || run.definition === null) startRun(sql, n, { behaviour }, now)
  const progress: Progress = {
    run: { ...run, startedAt: run.startedAt ?? now },
    definition,
    steps: new Map(stepsOf(sql, n).map((row) => [row.step, row])),
    event,
  }
  if (outcome && !settleStep(write, progress, outcome.step, outcome.of)) return null
  return walk(write, progress)
}

/** Runs steps until there is something to wait for. */
function walk(write: Write, progress: Progress): CodeTask | null {
  const { run, definition, steps } = progress
  for (;;) {
    const outcomes = definition.steps.map((_, i) => outcomeOf(steps.get(i)))
    const next = nextStep(definition, outcomes)
    if ('end' in next) return end(write, run, next.end, errorOf(progress, next.end))
    const deadline = deadlineOf(run, definition)
    if (deadline !== null && write.context.clock.now() >= deadline) {
      return end(write, run, 'Failed', `The run took longer than its ${definition.timeoutMs! / 1_000} s.`)
    }
    const step = definition.steps[next.step]!
    const sources = sourcesOf(progress)
    if ('code' in step) {
      begin(write, progress, next.step, JSON.stringify({ event: progress.event.id ?? null }))
      return { run, step: next.step, code: step.code, sources, grant: write.grant, deadline }
    }
    const outcome = runVerbStep(write, progress, next.step, step, sources)
    if (!settleStep(write, progress, next.step, outcome)) return null
  }
}

/** When a run fails for having taken too long; null if it may take any time. */
function deadlineOf(run: RunRow, { timeoutMs }: Progress['definition']): number | null {
  return timeoutMs === null ? null : run.startedAt! + timeoutMs
}

function runVerbStep(write: Write, progress: Progress, i: number, step: VerbStep, sources: Sources): CodeOutcome {
  const { input, call } = callOf(step, sources)
  begin(write, progress, i, JSON.stringify(input))
  if (call instanceof Problem) return { problem: call }
  try {
    return { result: write.attempt(() => answerIn(write, call)) }
  } catch (reason) {
    // Without room for its event the whole run waits.
    if (!(reason instanceof Problem) || reason === HOOKS_PENDING || reason.code === 'over_quota') throw reason
    return { problem: reason }
  }
}

/** Notes that a step is tried. */
function begin({ sql, context }: Write, { run, steps }: Progress, i: number, input: string | null): void {
  const before = steps.get(i)
  const startedAt = before?.startedAt ?? context.clock.now()
  const tries = (before?.tries ?? 0) + 1
  const row: StepRow = { step: i, state: 'Running', tries, input, output: null, error: null, startedAt, endedAt: null }
  steps.set(i, row)
  saveStep(sql, run.n, row)
}

/** Notes what became of a step. False when it is to be tried again later. */
function settleStep(write: Write, { run, definition, steps }: Progress, i: number, outcome: CodeOutcome): boolean {
  const now = write.context.clock.now()
  const row = steps.get(i)!
  const settled: StepRow =
    'result' in outcome
      ? { ...row, state: 'Succeeded', output: JSON.stringify(outcome.result), endedAt: now }
      : { ...row, state: 'Failed', error: outcome.problem.message, endedAt: now }
  const isAgain = settled.state === 'Failed' && row.tries <= definition.retries
  const kept: StepRow = isAgain ? { ...settled, state: 'Waiting', endedAt: null } : settled
  steps.set(i, kept)
  saveStep(write.sql, run.n, kept)
  if (!isAgain) return true
  const again = now + Math.min(definition.backoffMs * 2 ** (row.tries - 1), LONGEST_WAIT)
  // A run that would wait beyond its timeout fails at that time.
  const due = Math.min(again, deadlineOf(run, definition) ?? again)
  holdRun(write.sql, run.n, due)
  write.wakeAt(due)
  return false
}

function errorOf({ definition, steps }: Progress, state: 'Succeeded' | 'Failed'): string | null {
  if (state === 'Succeeded') return null
  const [i, failed] = [...steps].findLast(([, row]) => row.state === 'Failed') ?? []
  return i === undefined ? null : `Step ${i} (${titleOf(definition.steps[i]!)}) failed: ${failed!.error}`
}

/** A step in a few words. */
function titleOf(step: Step): string {
  return 'code' in step ? 'code' : `${step.type}.${step.verb}`
}

function sourcesOf({ event, definition, steps }: Progress): Sources {
  const outputs = definition.steps.map((_, i) => {
    const row = steps.get(i)
    return row?.state === 'Succeeded' && row.output !== null ? (JSON.parse(row.output) as Json) : undefined
  })
  return { event, steps: outputs }
}

function outcomeOf(row: StepRow | undefined): StepOutcome {
  return row?.state === 'Succeeded' || row?.state === 'Failed' ? row.state : null
}
