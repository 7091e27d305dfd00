import { isoOf, isPlainObject, type Json, type JsonObject, type Verb } from '@tildebase/nouns'
import { grantFor } from '../../grant/grant.ts'
import { closeAsks } from '../../store/automation/asks.ts'
import { dropWait } from '../../store/automation/waits.ts'
import { endRun, type RunRow, type RunState } from '../../store/automation/workflow-runs.ts'
import { setFailures, workflowRow } from '../../store/automation/workflows.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { endCall } from '../agents/answer.ts'

/** Pausing as the service does it: a verb that no client can name. */
export const PAUSE: Verb = { name: 'pause', before: 'pausing', event: 'paused', set: { status: 'Paused' } }
/** A workflow that fails so often in a row is paused. */
const MOST_FAILURES = 5

/** Ends a run and counts it, in one transaction. */
export function end(write: Write, run: RunRow, state: RunState, error: string | null): null {
  const { sql, context } = write
  const now = context.clock.now()
  endRun(sql, run.n, state, now, error)
  if (mayWait(run)) {
    dropWait(sql, run.n)
    closeAsks(sql, run.n, 'Cancelled')
  }
  if (run.trigger === 'call') return endCall(write, run, state, error)
  const current = currentOf(sql, 'Workflow', run.workflow)
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as JsonObject
  const own = write.within({ correlation: null, ignoresQuota: true }).as(grantFor('system'))
  const counts = {
    runCount: numberOf(data.runCount) + (run.trigger === 'manual' ? 0 : 1),
    ...(state === 'Succeeded' && { successCount: numberOf(data.successCount) + 1 }),
    ...(state === 'Failed' && { failureCount: numberOf(data.failureCount) + 1 }),
    lastRunAt: isoOf(now),
  }
  const internalVerb = ENDED[state]!
  applyVerb(own, { type: 'Workflow', verb: internalVerb.name, id: current.id, internalVerb, serviceFields: counts })
  if (state === 'Cancelled') return null
  const before = workflowRow(sql, run.workflow)?.failures ?? 0
  const failures = state === 'Failed' ? before + 1 : 0
  if (failures !== before) setFailures(sql, run.workflow, failures)
  if (failures >= MOST_FAILURES && data.status === 'Activated') {
    applyVerb(own, { type: 'Workflow', verb: 'pause', id: current.id, internalVerb: PAUSE })
  }
  return null
}

/** Whether a run may have left something that waits for an event or for a person. */
function mayWait({ definition }: RunRow): boolean {
  const steps = definition?.behaviour.steps
  return Array.isArray(steps) && steps.some((step) => isPlainObject(step) && ('waitFor' in step || 'ask' in step))
}

/** The verbs that count a run, of the service's own. */
const ENDED: { readonly [state: string]: Verb } = {
  Succeeded: { name: 'succeed', before: 'succeeding', event: 'succeeded' },
  Failed: { name: 'fail', before: 'failing', event: 'failed' },
  Cancelled: { name: 'cancel', before: 'cancelling', event: 'cancelled' },
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
