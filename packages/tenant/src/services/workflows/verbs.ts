import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { checkDefinition } from './definition.ts'
import { demandCovers } from './rights.ts'

/** Fields that the runs decide. */
const COUNTS = ['runCount', 'successCount', 'failureCount', 'lastRunAt']

/** The verbs of Workflow. A caller cannot change or start a workflow that can do more than itself. */
export const workflowVerbs: { readonly [name: string]: SpecialVerb } = {
  'Workflow.create': (write, request) => checked(write, { ...request, data: withoutCounts(request) }),
  'Workflow.update': (write, request) => checked(write, { ...request, data: withoutCounts(request) }),
  'Workflow.rollback': checked,
  'Workflow.restore': checked,
  'Workflow.activate': checked,
  'Workflow.trigger': checked,
  'Workflow.pause': covered,
  'Workflow.archive': covered,
  'Workflow.delete': covered,
}

function covered(write: Write, request: VerbRequest): RunResult {
  demandCovers(write.engine, write.grant, request.id ?? '')
  return applyVerb(write, request)
}

/** What a verb leaves must be able to run, hooks included: it is looked at afterwards, and undone when it is not. */
function checked(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const result = request.verb === 'create' ? applyVerb(write, request) : covered(write, request)
    checkDefinition(write.engine, JSON.parse(result.entity.data) as JsonObject)
    return result
  })
}

/** Imports and syncs bring counts along; other clients cannot set them. */
function withoutCounts({ data, keepId }: VerbRequest): unknown {
  if (keepId || !isPlainObject(data)) return data
  return Object.fromEntries(Object.entries(data).filter(([field]) => !COUNTS.includes(field)))
}
