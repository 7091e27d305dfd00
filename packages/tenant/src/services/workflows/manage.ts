import { type Json, type JsonObject, Problem, sameJson } from '@tildebase/nouns'
import { demand, writing } from '../../grant/grant.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { addRun, markRetried, type RunRow, runOf } from '../../store/automation/workflow-runs.ts'
import { copySteps, stepsOf } from '../../store/automation/workflow-steps.ts'
import { currentOf } from '../../store/entities.ts'
import { notFound } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { demandCoversWorkflow } from './author.ts'
import { definitionOf } from './definition.ts'
import { end } from './end.ts'
import { undoneStep } from './steps/step.ts'
import { runView } from './view.ts'

/** Runs a workflow again for the event of a run that failed. Steps that have succeeded are not run again. */
export function retryRun(write: Write, workflow: string, id: string): JsonObject {
  const { sql, engine, context } = write
  const run = demandRun(write, workflow, id)
  if (run.state !== 'Failed' && run.state !== 'Cancelled') {
    throw conflict(run, `is ${run.state.toLowerCase()}; only a failed or cancelled run can be retried`)
  }
  if (stepsOf(sql, run.n).some(({ step }) => undoneStep(step) !== null)) {
    throw conflict(run, 'was undone; run the workflow again with trigger')
  }
  if (hasOtherSteps(write, run)) {
    throw conflict(run, 'has completed steps that were changed since; run the workflow again with trigger')
  }
  if (run.retriedBy !== null) throw conflict(run, `was already retried, by ${run.retriedBy}`)
  const now = context.clock.now()
  const retry = write.newId('run')
  const { seq, at } = run
  const n = addRun(sql, { id: retry, workflow, trigger: 'retry', seq, at, due: now, hops: 0, retryOf: run.id })
  copySteps(sql, run.n, n)
  markRetried(sql, run.n, retry)
  write.wakeAt(now)
  return runView(engine, write.grant, runOf(sql, workflow, retry)!)
}

/** Whether steps that a run has completed, and a retry would not run again, are other ones in the workflow of today. */
function hasOtherSteps({ sql }: Write, { n, workflow, definition }: RunRow): boolean {
  const steps = definitionOf(JSON.parse(currentOf(sql, 'Workflow', workflow)!.data) as JsonObject).steps
  const ran = definition === null ? steps : definitionOf(definition.behaviour).steps
  const done = stepsOf(sql, n).filter(({ state }) => state === 'Succeeded' || state === 'Skipped')
  return done.some(
    ({ step }) => !sameJson((ran[step] ?? null) as unknown as Json, (steps[step] ?? null) as unknown as Json),
  )
}

/** Ends a run that waits or is in progress. What it has done stays. */
export function cancelRun(write: Write, workflow: string, id: string): JsonObject {
  const run = demandRun(write, workflow, id)
  if (run.endedAt !== null) throw conflict(run, `has already ended: ${run.state.toLowerCase()}`)
  end(write, run, 'Cancelled', `Cancelled by ${write.grant.actor}.`)
  return runView(write.engine, write.grant, runOf(write.sql, workflow, id)!)
}

function demandRun({ engine, grant, context, sql }: Write, workflow: string, id: string): RunRow {
  const noun = engine.noun('Workflow')
  demand(grant, writing(grant, noun), noun)
  if (!isVisible(engine, grant, noun, workflow, context.budget)) throw notFound(noun.name, workflow)
  demandCoversWorkflow(engine, grant, workflow)
  const run = runOf(sql, workflow, id)
  if (!run) throw new Problem('not_found', `This workflow has no run ${id.slice(0, 60)}.`, { type: 'Workflow', id })
  return run
}

function conflict({ id }: RunRow, message: string): Problem {
  return new Problem('conflict', `The run ${id} ${message}.`, { type: 'Workflow', id })
}
