import { type JsonObject, sameJson } from '@tildebase/nouns'
import { demandCovers } from '../../authorship/stored.ts'
import { addRun } from '../../store/automation/workflow-runs.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, TransactionListener, Write } from '../../write/write.ts'
import { authoredCall, checkEndpoint, endpointOf, hasEndpoint, isSilent, storeEndpoint } from './author.ts'

/** The verbs that ask something of an agent. */
const ASKING = ['do', 'ask', 'decide', 'approve', 'notify', 'delegate', 'escalate', 'learn', 'reflect', 'invoke']

const NOT_CONFIGURED: JsonObject = { warning: 'not_configured' }

/** The verbs of Agent. An agent without an endpoint is not called: the event is for a workflow or a webhook. */
export const agentVerbs: { readonly [name: string]: SpecialVerb } = {
  'Agent.create': stored,
  'Agent.update': stored,
  ...Object.fromEntries(ASKING.map((verb) => [`Agent.${verb}`, call])),
}

/** The caller is the author of an endpoint that it sets. */
function stored(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const { engine, sql } = write
    const current = request.verb === 'create' ? null : currentOf(sql, 'Agent', request.id ?? '')
    const before = current ? (JSON.parse(current.data) as JsonObject) : {}
    const result = applyVerb(write, request)
    const { id, data } = result.entity
    const after = JSON.parse(data) as JsonObject
    if (sameJson(endpointOf(before), endpointOf(after))) return result
    checkEndpoint(engine, after)
    if (hasEndpoint(after)) storeEndpoint(write, id, after)
    return result
  })
}

/**
 * Watches over endpoints in the transaction of every event of an Agent, whichever verb it came by: a caller redirects no
 * endpoint whose author may do more, and brings none of such an author back.
 */
export const guardEndpoints: TransactionListener = ({ engine, grant }, { verb, previous }, { id, data }) => {
  if (verb === 'create' || verb === 'delete') return
  const after = JSON.parse(data) as JsonObject
  const before = { ...after, ...(JSON.parse(previous ?? '{}') as JsonObject) }
  if (verb !== 'restore' && sameJson(endpointOf(before), endpointOf(after))) return
  for (const state of [before, after]) {
    const known = authoredCall(engine, id, state)
    if (known !== null) demandCovers(engine, grant, known, 'Agent')
  }
}

/** Records what is asked, and queues the call in the same transaction. */
function call(write: Write, request: VerbRequest): RunResult {
  const { engine, sql, context } = write
  const result = applyVerb(write, request)
  const { id, data } = result.entity
  const state = JSON.parse(data) as JsonObject
  if (result.event === null) return result
  if (!engine.ports.outbound || authoredCall(engine, id, state) === null) {
    return { ...result, warnings: [NOT_CONFIGURED] }
  }
  if (isSilent(state)) {
    return { ...result, warnings: [{ warning: 'not_called', status: state.status! }] }
  }
  const now = context.clock.now()
  const { seq } = result.event
  addRun(sql, { id: write.newId('run'), workflow: id, trigger: 'call', seq, at: now, due: now, hops: context.hops })
  write.wakeAt(now)
  return result
}
