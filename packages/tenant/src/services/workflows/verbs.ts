import { isPlainObject, type JsonObject, Problem, sameJson } from '@tildebase/nouns'
import { currentOf, liveCount } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { authoredWorkflow, behaviourOf, demandCoversWorkflow, storeWorkflow } from './author.ts'
import { checkDefinition } from './definition.ts'
import { refuseShortcut } from './schedule.ts'

/** Workflows of a tenant: each event is compared with all of them before its write is answered. */
const MOST_WORKFLOWS = 500
/** Verbs that bring an earlier definition back. */
const BACKWARD = new Set(['rollback', 'restore'])
/** Fields that the runs decide. */
const COUNTS = ['runCount', 'successCount', 'failureCount', 'lastRunAt']

/** The verbs of Workflow. A caller cannot change or start a workflow that can do more than itself. */
export const workflowVerbs: { readonly [name: string]: SpecialVerb } = {
  'Workflow.create': stored,
  'Workflow.update': stored,
  'Workflow.rollback': checked,
  'Workflow.restore': checked,
  'Workflow.activate': checked,
  'Workflow.trigger': checked,
  'Workflow.pause': covered,
  'Workflow.archive': covered,
  'Workflow.delete': covered,
}

/** The caller is the author of what it creates, and of a definition that it changes. */
function stored(write: Write, request: VerbRequest): RunResult {
  if (request.verb === 'create' && liveCount(write.sql, 'Workflow') >= MOST_WORKFLOWS)
    throw new Problem('too_many', `A tenant can have ${MOST_WORKFLOWS} workflows. Delete one.`, {
      limit: MOST_WORKFLOWS,
    })
  return write.attempt(() => {
    const before = request.verb === 'create' ? null : stateOf(write, request.id ?? '')
    const result = checked(write, { ...request, data: withoutCounts(request) })
    const { id, data } = result.entity
    const after = JSON.parse(data) as JsonObject
    const isChanged = before === null || !sameJson(behaviourOf(before), behaviourOf(after))
    if (isChanged || authoredWorkflow(write.engine, id, after) === null) storeWorkflow(write, id, after)
    return result
  })
}

function covered(write: Write, request: VerbRequest): RunResult {
  demandCoversWorkflow(write.engine, write.grant, request.id ?? '')
  return applyVerb(write, request)
}

/** What a verb leaves must be able to run, hooks included: it is looked at afterwards, and undone when it is not. */
function checked(write: Write, request: VerbRequest): RunResult {
  refuseShortcut('Workflow', request.data)
  return write.attempt(() => {
    const result = request.verb === 'create' ? applyVerb(write, request) : covered(write, request)
    checkDefinition(write.engine, JSON.parse(result.entity.data) as JsonObject)
    // An earlier definition comes back with the author that it had.
    if (BACKWARD.has(request.verb)) demandCoversWorkflow(write.engine, write.grant, result.entity.id)
    return result
  })
}

function stateOf({ sql }: Write, id: string): JsonObject | null {
  const current = currentOf(sql, 'Workflow', id)
  return current ? (JSON.parse(current.data) as JsonObject) : null
}

/** Imports and syncs bring counts along; other clients cannot set them. */
function withoutCounts({ data, keepId }: VerbRequest): unknown {
  if (keepId || !isPlainObject(data)) return data
  return Object.fromEntries(Object.entries(data).filter(([field]) => !COUNTS.includes(field)))
}
