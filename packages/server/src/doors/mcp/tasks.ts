import { INVALID_PARAMS, MissingRequiredClientCapabilityError, ProtocolError } from '@modelcontextprotocol/server'
import { isoOf, isPlainObject, Problem } from '@tildebase/nouns'
import type { Changeset } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { decisionUrl } from '../decide/routes.ts'
import { type McpClient, TASKS } from './client.ts'
import { type Answer, resultOf } from './result.ts'

const POLL_MS = 2_000

/** A proposal, with the page on which a person decides about it. */
export interface Proposal {
  readonly changeset: Changeset
  readonly url: string
  readonly staleAt: number
}

/** A proposal as the protocol follows it: its id is that of the changeset, so nothing else is stored. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'cancelled'
  readonly statusMessage: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
}

/** The proposal of a changeset, as far as the grant sees it. */
export function proposalOf(call: Call, id: string): Promise<Proposal> {
  return call.tenant.write(call.grant, call.writes, call.newBudget(), (write) => {
    const { changeset, signature, staleAt } = write.decision(id)
    return { changeset, staleAt, url: decisionUrl(call, id, signature) }
  })
}

/** The state of a task. */
export function taskOf({ changeset, url, staleAt }: Proposal, { urls }: McpClient): Task {
  const { id, entity } = changeset
  const status = statusOf(changeset, urls)
  return {
    taskId: id,
    status,
    statusMessage: messageOf(changeset, url),
    createdAt: isoOf(entity.createdAt),
    lastUpdatedAt: isoOf(entity.updatedAt),
    ttlMs: staleAt - entity.createdAt,
    pollIntervalMs: POLL_MS,
  }
}

/** Answers `tasks/get`. */
export async function getTask(call: Call, client: McpClient, params: unknown): Promise<Answer> {
  const proposal = await ownProposal(call, client, params)
  const task = taskOf(proposal, client)
  if (task.status === 'input_required') return { ...task, inputRequests: { decision: asked(proposal) } }
  return task.status === 'completed'
    ? { ...task, result: { resultType: 'complete', ...resultOf(outcomeOf(proposal)) } }
    : { ...task }
}

/**
 * Answers `tasks/update`: the responses decide nothing, whatever they are. The library takes them out of the parameters.
 */
export async function updateTask(call: Call, client: McpClient, params: unknown, responses: unknown): Promise<Answer> {
  if (!isPlainObject(responses)) throw new ProtocolError(INVALID_PARAMS, 'inputResponses must be an object.')
  await ownProposal(call, client, params)
  return {}
}

/** Answers `tasks/cancel`: the author takes the proposal back. One that is decided stays as it is. */
export async function cancelTask(call: Call, client: McpClient, params: unknown): Promise<Answer> {
  const { changeset } = await ownProposal(call, client, params)
  if (changeset.state === 'Open')
    await call.tenant.write(call.grant, call.writes, call.newBudget(), (write) =>
      write.run({ type: 'Changeset', verb: 'reject', id: changeset.id }),
    )
  return {}
}

/** The changeset as the answers of `do` contain it. */
export function changesetView({ changeset, url }: Proposal): Answer {
  const { id, title, state, operationCount } = changeset
  const { reviewer } = JSON.parse(changeset.entity.data) as { reviewer?: string }
  return { $id: id, title, state, operationCount, url, ...(reviewer !== undefined && { reviewer }) }
}

/** The proposal of a task, for the caller that made it. Tasks of others do not exist for it. */
async function ownProposal(call: Call, { tasks }: McpClient, params: unknown): Promise<Proposal> {
  if (!tasks) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } })
  const id = isPlainObject(params) ? params.taskId : undefined
  if (typeof id !== 'string') throw new ProtocolError(INVALID_PARAMS, 'taskId must be a string.')
  try {
    const proposal = await proposalOf(call, id)
    if (proposal.changeset.author === call.grant.actor) return proposal
  } catch (reason) {
    if (!(reason instanceof Problem) || reason.code !== 'not_found') throw reason
  }
  throw new ProtocolError(INVALID_PARAMS, `There is no task ${id.slice(0, 100)}.`)
}

function statusOf({ state, author, entity }: Changeset, urls: boolean): Task['status'] {
  if (state === 'Open') return urls ? 'input_required' : 'working'
  const { reviewer } = JSON.parse(entity.data) as { reviewer?: string }
  return state === 'Rejected' && reviewer === author ? 'cancelled' : 'completed'
}

function messageOf({ state }: Changeset, url: string): string {
  return state === 'Open' ? `A person decides about this proposal at ${url}` : `The proposal is ${state.toLowerCase()}.`
}

/** What the client asks its person: to open the page. */
function asked({ changeset, url }: Proposal): Answer {
  return {
    method: 'elicitation/create',
    params: { mode: 'url', message: `Decide about “${changeset.title}”.`, url },
  }
}

/** What `do` has come to. The writes of an approved changeset share its id as their correlation. */
function outcomeOf(proposal: Proposal): Answer {
  const { id, state } = proposal.changeset
  const correlation = state === 'Approved' ? id : null
  return { result: null, logs: [], correlation, changeset: changesetView(proposal) }
}
