import { isoOf, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import type { Engine, Transaction } from '../../engine/engine.ts'
import { withTodaysNames } from '../../engine/migrations.ts'
import { type Grant, grantFor } from '../../grant/grant.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { continueRun, holdRun, type RunRow, runAt, startRun, waitRun } from '../../store/automation/workflow-runs.ts'
import { type StepRow, saveStep, stepsOf } from '../../store/automation/workflow-steps.ts'
import { type Current, currentOf } from '../../store/entities.ts'
import { readEntry } from '../../store/log/log.ts'
import { eventView } from '../../view/event.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { HOOKS_PENDING } from '../../write/stored-hooks.ts'
import type { Write } from '../../write/write.ts'
import { endpointOf, isSilent } from '../agents/author.ts'
import { attemptBriefly, runNow } from '../scripts/run-write.ts'
import { authoredRun, behaviourOf } from './author.ts'
import type { Definition } from './definition.ts'
import { end } from './end.ts'
import { nextStep, type StepOutcome } from './interpret.ts'
import { answerCalls, callsOf } from './steps/calls.ts'
import { passesCondition } from './steps/condition.ts'
import { foreignContent } from './steps/files.ts'
import { type RequestTask, shownRequest } from './steps/request.ts'
import { isWaiting, type Step, stepAt, titleOf, undoneStep, type VerbStep } from './steps/step.ts'
import { beginWait, endOfWait } from './steps/waiting.ts'
import type { Sources } from './values.ts'

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

/** What a step leaves to be done outside of transactions. */
export type Task = CodeTask | RequestTask

/** What became of a step. */
export type Outcome = { readonly result: Json } | { readonly problem: Problem }

/** A run with what it needs to continue. */
interface Progress {
  readonly run: RunRow
  readonly definition: Definition
  readonly steps: Map<number, StepRow>
  /** The event that it is for; null if its author may not see it. Most of what ends does not look at it any more. */
  readonly event: () => JsonObject | null
}

/** A run to continue with, and what became of the step that it has waited for. */
export interface Continuation {
  readonly n: number
  readonly outcome: { readonly step: number; readonly of: Outcome } | null
}

/** What is to be done next for a run; null when it waits or has ended. It is a promise while hooks are asked. */
export type Advanced = Task | null | Promise<Task | null>

/**
 * Continues with a run: verb after verb, until it ends, waits, or comes to code or a request. All of it is one transaction: a verb, its
 * mark in the run, and the end of the run are written together.
 */
export function advance(transactor: Transactor, continuation: Continuation): Advanced {
  const move = moveOf(transactor.engine, continuation)
  return move && runNow(transactor, move.grant, move.context, move.work)
}

/**
 * Continues with a run inside a transaction that others share. Throws what only a transaction of its own can deal with: hooks that have to
 * be asked, and work that takes long.
 */
export function advanceIn(transactor: Transactor, transaction: Transaction, continuation: Continuation): Task | null {
  return transaction.savepoint(() => {
    const move = moveOf(transactor.engine, continuation)
    return move && attemptBriefly(transactor, transaction, move.grant, move.context, move.work)
  })
}

/** The write that continues with a run, or null when it has ended. */
function moveOf(engine: Engine, { n, outcome }: Continuation) {
  let found: Found | null = foundRun(engine, n)
  if (found === null) return null
  const { run } = found
  const acting = actingIn(engine, found)
  return {
    // Without an author nothing but the end of the run is written.
    grant: acting?.grant ?? grantFor('system'),
    context: { hops: run.hops + 1, correlation: run.id },
    work: (write: Write) => {
      // While hooks were asked it may have changed: only the first attempt uses what was read before.
      const now = found ?? foundRun(engine, n)
      found = null
      return now && proceed(write, now, acting?.declaration ?? null, outcome)
    },
  }
}

/** A run with the workflow, or the agent, that it belongs to. */
interface Found {
  readonly run: RunRow
  readonly workflow: Current | undefined
  readonly data: JsonObject
}

function foundRun({ sql }: Engine, n: number): Found | null {
  const run = runAt(sql, n)
  if (!run || run.endedAt !== null) return null
  const workflow = currentOf(sql, typeOf(run), run.workflow)
  return { run, workflow, data: workflow ? (JSON.parse(workflow.data) as JsonObject) : {} }
}

/** What a run does, and the rights of the author who stored that. A run keeps the definition with which it began. */
function actingIn(
  engine: Engine,
  { run, workflow, data }: Found,
): { readonly declaration: Definition; readonly grant: Grant } | null {
  const behaviour = run.definition?.behaviour ?? (workflow && data)
  const stored = behaviour ? authoredRun(engine, run, behaviour) : null
  return stored && act(stored)
}

function typeOf({ trigger }: RunRow): 'Workflow' | 'Agent' {
  return trigger === 'call' ? 'Agent' : 'Workflow'
}

/** The event that a run is for, as the workflow sees it; null when its author may not see it, or it was erased meanwhile. */
function eventOf(engine: Engine, { id, seq, at, workflow, startedAt }: RunRow, grant: Grant): JsonObject | null {
  const row = seq === null ? undefined : readEntry(engine.sql, seq)
  if (row) {
    if (row.data === null && startedAt !== null) return null
    const shown = visibilityOf(engine, grant, null).show(row)
    return shown && withTodaysNames(engine, eventView(shown, engine), row.seq)
  }
  return { id, type: 'Workflow.scheduled', timestamp: isoOf(at), tenant: engine.slug, entityId: workflow, data: {} }
}

function proceed(
  write: Write,
  { run, workflow, data }: Found,
  definition: Definition | null,
  outcome: Continuation['outcome'],
): Task | null {
  const { engine, sql, context } = write
  const { n } = run
  const now = context.clock.now()
  const isCall = run.trigger === 'call'
  const type = typeOf(run)
  if (!workflow || workflow.deleted || (isCall ? isSilent(data) : data.status === 'Archived')) {
    return end(write, run, 'Cancelled', `The ${type} was deleted, stopped or archived.`)
  }
  if (definition === null) return end(write, run, 'Failed', `The ${type} has no author. Store it again.`)
  if (run.hops > MOST_HOPS) {
    return end(write, run, 'Failed', `${run.hops} workflows or hooks triggered each other. Remove the loop.`)
  }
  const behaviour = run.definition?.behaviour ?? (isCall ? endpointOf(data) : behaviourOf(data))
  let event = outcome === null ? eventOf(engine, run, write.grant) : undefined
  if (event === null) return endUnseen(write, run)
  const isPaused = data.status !== 'Activated' && run.trigger !== 'retry' && !isCall
  if (isPaused && outcome === null) return pause(write, n)
  if (run.startedAt === null || run.definition === null) startRun(sql, n, { behaviour }, now)
  else if (run.state === 'Waiting') continueRun(sql, n)
  const progress: Progress = {
    run: { ...run, startedAt: run.startedAt ?? now },
    definition,
    steps: new Map(stepsOf(sql, n).map((row) => [row.step, row])),
    event: () => {
      event ??= eventOf(engine, run, write.grant)
      return event
    },
  }
  if (outcome && !settleStep(write, progress, outcome.step, outcome.of)) return null
  return isPaused ? pause(write, n) : walk(write, progress)
}

/** Leaves a run until its workflow is activated again. */
function pause({ sql }: Write, n: number): null {
  holdRun(sql, n, null)
  return null
}

/** Runs steps until there is something to wait for. */
function walk(write: Write, progress: Progress): Task | null {
  const { run, definition, steps } = progress
  for (;;) {
    const next = nextStep(definition, (place) => outcomeOf(steps.get(place)))
    if ('end' in next) return end(write, run, next.end, errorOf(progress, next.end))
    const { place } = next
    const step = stepAt(definition.steps, place)
    const deadline = undoneStep(place) === null ? deadlineOf(progress) : null
    const isLate = deadline !== null && write.context.clock.now() >= deadline && !isBegunWait(progress, place)
    if (isLate && !hasUndo(definition)) return end(write, run, 'Failed', tooLong(definition))
    const event = progress.event()
    if (event === null) return endUnseen(write, run)
    const sources = sourcesOf(write.engine, progress, event)
    const outcome = isLate
      ? failed(write, progress, place, new Problem('over_budget', tooLong(definition)))
      : runStep(write, progress, place, step, sources, deadline)
    if (outcome === null) return null
    if ('step' in outcome) return outcome
    if (outcome !== SKIPPED && !settleStep(write, progress, place, outcome)) return null
  }
}

function endUnseen(write: Write, run: RunRow): null {
  return end(write, run, 'Cancelled', `Its event was erased, or the author of the ${typeOf(run)} may not see it.`)
}

/** A step that its condition leaves out. */
const SKIPPED = { result: null } as const

/** Runs a step, or begins with it: its outcome, what is to be done elsewhere, or null while it waits. */
function runStep(
  write: Write,
  progress: Progress,
  place: number,
  step: Step,
  sources: Sources,
  deadline: number | null,
): Outcome | Task | null {
  const { run } = progress
  try {
    if (!progress.steps.has(place) && step.if && !passesCondition(step.if, sources, write.context.clock.now())) {
      begin(write, progress, place, null, 'Skipped')
      return SKIPPED
    }
    if (isWaiting(step)) return waitFor(write, progress, place, step, sources)
    if ('request' in step) {
      begin(write, progress, place, JSON.stringify(shownRequest(step, sources)))
      return { run, step: place, request: step, sources, deadline }
    }
    if ('code' in step) {
      begin(write, progress, place, JSON.stringify({ event: sources.event.id ?? null }))
      return { run, step: place, code: step.code, sources, grant: write.grant, deadline }
    }
  } catch (reason) {
    if (!(reason instanceof Problem) || reason === HOOKS_PENDING) throw reason
    return failed(write, progress, place, reason)
  }
  const { input, calls } = callsOf(step as VerbStep, sources)
  begin(write, progress, place, JSON.stringify(input))
  if (calls instanceof Problem) return { problem: calls }
  const foreign = foreignContent(write.sql, sources, input)
  if (foreign !== null) return { problem: new Problem('validation_error', `there is no content ${foreign}`) }
  try {
    return { result: write.attempt(() => answerCalls(write, calls)) }
  } catch (reason) {
    // Without room for its event the whole run waits.
    if (!(reason instanceof Problem) || reason === HOOKS_PENDING || reason.code === 'over_quota') throw reason
    return { problem: reason }
  }
}

/** Begins to wait, or looks what has come; null while the run waits. */
function waitFor(write: Write, progress: Progress, place: number, step: Step, sources: Sources): Outcome | null {
  const { run, steps } = progress
  if (!isBegunWait(progress, place)) {
    const input = beginWait(write, run, place, step, sources)
    begin(write, progress, place, JSON.stringify(input), 'Waiting')
  }
  const { input } = steps.get(place)!
  if (input === null) return { problem: new Problem('not_found', 'An entity of this step was erased while it waited.') }
  const state = JSON.parse(input) as JsonObject
  const outcome = endOfWait(write, run, place, step, state)
  if (outcome !== undefined) return { result: outcome }
  const due = typeof state.until === 'string' ? Date.parse(state.until) : null
  waitRun(write.sql, run.n, due)
  if (due !== null) write.wakeAt(due)
  return null
}

function isBegunWait({ definition, steps }: Progress, place: number): boolean {
  return isWaiting(stepAt(definition.steps, place)) && steps.get(place)?.state === 'Waiting'
}

function failed(write: Write, progress: Progress, place: number, problem: Problem): Outcome {
  if (!progress.steps.has(place)) begin(write, progress, place, null)
  return { problem }
}

function hasUndo({ steps }: Definition): boolean {
  return steps.some(({ undo }) => undo !== undefined)
}

function tooLong({ timeoutMs }: Definition): string {
  return `The run took longer than its ${timeoutMs! / 1_000} s.`
}

/** When a run fails for having taken too long, waits not counted; null if it may take any time. */
function deadlineOf({ run, definition: { timeoutMs, steps: declared }, steps }: Progress): number | null {
  if (timeoutMs === null) return null
  const waits = [...steps].filter(([place]) => isWaiting(stepAt(declared, place)))
  const waited = waits.reduce(
    (sum, [, { startedAt, endedAt }]) => sum + (endedAt === null ? 0 : endedAt - startedAt),
    0,
  )
  return run.startedAt! + timeoutMs + waited
}

/** Notes that a step is tried, waits, or is skipped. */
function begin(
  { sql, context }: Write,
  { run, steps }: Progress,
  place: number,
  input: string | null,
  state: 'Running' | 'Waiting' | 'Skipped' = 'Running',
): void {
  const before = steps.get(place)
  const now = context.clock.now()
  const row: StepRow = {
    step: place,
    state,
    tries: (before?.tries ?? 0) + (state === 'Skipped' ? 0 : 1),
    input,
    output: null,
    error: null,
    startedAt: before?.startedAt ?? now,
    endedAt: state === 'Skipped' ? now : null,
  }
  steps.set(place, row)
  saveStep(sql, run.n, row)
}

/** Notes what became of a step. False when it is to be tried again later. */
function settleStep(write: Write, progress: Progress, place: number, outcome: Outcome): boolean {
  const { run, definition, steps } = progress
  const now = write.context.clock.now()
  const row = steps.get(place)!
  const settled: StepRow =
    'result' in outcome
      ? { ...row, state: 'Succeeded', output: JSON.stringify(outcome.result), endedAt: now }
      : { ...row, state: 'Failed', error: outcome.problem.message, endedAt: now }
  const deadline = undoneStep(place) === null ? deadlineOf(progress) : null
  const isOver = isWaiting(stepAt(definition.steps, place)) || (deadline !== null && now >= deadline)
  const isAgain = settled.state === 'Failed' && row.tries <= definition.retries && !isOver
  const kept: StepRow = isAgain ? { ...settled, state: 'Waiting', endedAt: null } : settled
  steps.set(place, kept)
  saveStep(write.sql, run.n, kept)
  if (!isAgain) return true
  const again = now + Math.min(definition.backoffMs * 2 ** (row.tries - 1), LONGEST_WAIT)
  // A run that would wait beyond its timeout fails at that time.
  const due = Math.min(again, deadline ?? again)
  holdRun(write.sql, run.n, due)
  write.wakeAt(due)
  return false
}

function errorOf({ definition, steps }: Progress, state: 'Succeeded' | 'Failed'): string | null {
  if (state === 'Succeeded') return null
  const all = [...steps].filter(([, row]) => row.state === 'Failed')
  const [i, failure] = all.findLast(([place]) => undoneStep(place) === null) ?? []
  if (i === undefined) return null
  const undone = all.flatMap(([place, row]) =>
    undoneStep(place) === null ? [] : [` The undo of step ${undoneStep(place)} failed: ${row.error}`],
  )
  return `Step ${i} (${titleOf(definition.steps[i]!)}) failed: ${failure!.error}${undone.join('')}`
}

function sourcesOf(engine: Engine, { run, definition, steps }: Progress, event: JsonObject): Sources {
  const outputs = definition.steps.map((_, i) => {
    const row = steps.get(i)
    if (row?.state === 'Skipped') return null
    if (row?.state !== 'Succeeded' || row.output === null) return undefined
    return withTodaysNames(engine, JSON.parse(row.output) as Json, run.seq ?? 0)
  })
  return { event, steps: outputs }
}

function outcomeOf(row: StepRow | undefined): StepOutcome {
  return row?.state === 'Succeeded' || row?.state === 'Failed' || row?.state === 'Skipped' ? row.state : null
}
