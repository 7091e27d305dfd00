import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { onlyProposes } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { problemOf } from '../respond.ts'
import { adviceOn } from './advice.ts'
import { listPages, PAGE_TYPE, pageData, readPage, withPages } from './apps.ts'
import { APPS, type McpClient, TASKS } from './client.ts'
import { listEvents, subscribe, unsubscribe } from './events.ts'
import { resultOf } from './result.ts'
import { runTool } from './run.ts'
import { cancelTask, changesetView, getTask, proposalOf, taskOf, updateTask } from './tasks.ts'
import { PROPOSES, toolsFor } from './tools.ts'

const INFO = { name: 'tildebase', title: 'Tildebase', version: '0.1.0' }
const MINUTE = 60_000
/** How long a client may keep an answer: types change seldom, and the pages with a new version only. */
const CACHE_HINTS = {
  'tools/list': { ttlMs: MINUTE, cacheScope: 'private' },
  'resources/list': { ttlMs: 60 * MINUTE, cacheScope: 'public' },
  'resources/templates/list': { ttlMs: 60 * MINUTE, cacheScope: 'public' },
  'resources/read': { ttlMs: 60 * MINUTE, cacheScope: 'public' },
  'server/discover': { ttlMs: MINUTE, cacheScope: 'private' },
} as const

/** Events are declared as their working group does, which the SDK does not know. */
const EVENTS: object = { events: {} }

/** Any parameters: each method checks its own. */
const ANY = {
  '~standard': { version: 1, vendor: 'tildebase', validate: (value: unknown) => ({ value }) },
} as const

/** The server for one message. Extensions are for clients without a handshake, which declare them with every request. */
export function serverFor(call: Call, client: McpClient, isModern: boolean): Server {
  const pages = { [APPS]: { mimeTypes: [PAGE_TYPE] } }
  const extensions = isModern ? { ...pages, [TASKS]: {} } : pages
  const server = new Server(INFO, {
    // Clients of older revisions may set a level; there is nothing that would be logged to them.
    capabilities: { tools: {}, resources: {}, ...EVENTS, ...(!isModern && { logging: {} }), extensions },
    instructions: instructionsFor(call),
    cacheHints: CACHE_HINTS,
  })
  const tools = toolsFor(call)
  server.setRequestHandler('tools/list', () => ({ tools: client.apps ? withPages(tools) : tools }))
  server.setRequestHandler('resources/list', () => listPages())
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params }) => readPage(params.uri))
  server.setRequestHandler('tools/call', ({ params }) => callTool(call, client, params.name, params.arguments))
  server.setRequestHandler('events/list', { params: ANY }, (params) => listEvents(call, params))
  server.setRequestHandler('events/subscribe', { params: ANY }, (params) => subscribe(call, params))
  server.setRequestHandler('events/unsubscribe', { params: ANY }, (params) => unsubscribe(call, params))
  if (!isModern) return server
  server.setRequestHandler('tasks/get', { params: ANY }, (params) => getTask(call, client, params))
  server.setRequestHandler('tasks/update', { params: ANY }, (params, { mcpReq }) =>
    updateTask(call, client, params, mcpReq.inputResponses),
  )
  server.setRequestHandler('tasks/cancel', { params: ANY }, (params) => cancelTask(call, client, params))
  return server
}

async function callTool(call: Call, client: McpClient, name: string, input: unknown) {
  try {
    const answer = await runTool(call, name, input)
    const meta = client.apps ? await pageData(call, name, input, answer) : undefined
    const id = changesetIn(answer)
    if (id === null) return resultOf(answer, meta)
    const proposal = await proposalOf(call, id)
    if (client.tasks && !client.apps) return { resultType: 'task', ...taskOf(proposal, client) } as never
    return resultOf({ ...answer, changeset: changesetView(proposal) }, meta)
  } catch (reason) {
    if (reason instanceof ProtocolError) throw reason
    const problem = problemOf(reason)
    if (problem.code === 'internal') call.report(reason)
    return { content: [{ type: 'text' as const, text: JSON.stringify(adviceOn(problem)) }], isError: true }
  }
}

/** The id of the changeset that `do` proposed, or null. */
function changesetIn(answer: object): string | null {
  const { changeset } = answer as { changeset?: { $id: string } | null }
  return 'logs' in answer ? (changeset?.$id ?? null) : null
}

function instructionsFor({ tenant, lens, grant }: Call): string {
  const shown = lens.names.length > 0 ? ` The lens ${lens.names.join(' and ')} selects the types.` : ''
  return `The business data of the tenant ${tenant.slug}: search finds entities, fetch reads one${tenant.runsCode ? ', do runs code that changes them' : ''}.${shown}${onlyProposes(grant) ? ` ${PROPOSES}` : ''}`
}
