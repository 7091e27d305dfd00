import { createMcpHandler, INVALID_REQUEST, PARSE_ERROR, ProtocolError, Server } from '@modelcontextprotocol/server'
import type { Problem } from '@tildebase/nouns'
import { onlyProposes } from '@tildebase/tenant/internal'
import { type Call, parseBody } from '../call.ts'
import { contentReply, json, type Reply } from '../reply.ts'
import { problemOf } from '../respond.ts'
import { runTool } from './run.ts'
import { PROPOSES, toolsFor } from './tools.ts'

const INFO = { name: 'tildebase', title: 'Tildebase', version: '0.1.0' }

/** Answers a message of the tool protocol. */
export async function answerMcp(call: Call): Promise<Reply> {
  const { request: received } = call
  let body: unknown
  try {
    body = parseBody(received.body as Uint8Array | null)
  } catch (reason) {
    return unread(problemOf(reason))
  }
  const handler = createMcpHandler(() => serverFor(call))
  const given = Object.entries(received.headers).filter((header): header is [string, string] => header[1] !== undefined)
  const headers = new Headers(given)
  const takesOnlyJson = isOnlyJson(received.headers.accept)
  if (takesOnlyJson) headers.set('accept', 'application/json, text/event-stream')
  const request = new Request(`${received.scheme}://${received.host || 'localhost'}${received.path}`, {
    method: 'POST',
    headers,
  })
  const response = await handler.fetch(request, { parsedBody: body ?? null })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  if (isStream && takesOnlyJson) return textReply(response.status, messageIn(await response.text()))
  const { status } = response
  const shown = Object.fromEntries(response.headers)
  if (isStream && response.body) return { status, headers: shown, content: null, stream: chunksOf(response.body) }
  return textReply(status, await response.text(), shown)
}

/** Whether the client accepts JSON but not streams, such as curl. */
function isOnlyJson(accept = '*/*'): boolean {
  return !accept.includes('text/event-stream') && /\*\/\*|application\/(?:\*|json)/.test(accept)
}

/** The message of a stream, or the list of them that answers a list. */
function messageIn(stream: string): string {
  const messages = stream.match(/^data: ?.+$/gm)?.map((line) => line.replace(/^data: ?/, '')) ?? []
  return messages.length === 1 ? messages[0]! : `[${messages.join(',')}]`
}

function textReply(status: number, text: string, headers: { readonly [name: string]: string } = {}): Reply {
  return contentReply(status, { value: () => JSON.parse(text), text: () => text }, headers)
}

/** What a body that is not a message is answered, in the words of JSON-RPC. */
function unread({ code, message }: Problem): Reply {
  const error = { code: code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST, message }
  return json(400, { jsonrpc: '2.0', error, id: null })
}

function serverFor(call: Call): Server {
  const server = new Server(INFO, { capabilities: { tools: {} }, instructions: instructionsFor(call) })
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(call) }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    try {
      const answer = await runTool(call, params.name, params.arguments)
      return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
    } catch (reason) {
      if (reason instanceof ProtocolError) throw reason
      const problem = problemOf(reason)
      if (problem.code === 'internal') call.report(reason)
      return { content: [{ type: 'text', text: JSON.stringify(adviceOn(problem)) }], isError: true }
    }
  })
  return server
}

function instructionsFor({ tenant, lens, grant }: Call): string {
  const shown = lens.names.length > 0 ? ` The lens ${lens.names.join(' and ')} selects the types.` : ''
  return `The business data of the tenant ${tenant.slug}: search finds entities, fetch reads one${tenant.runsCode ? ', do runs code that changes them' : ''}.${shown}${onlyProposes(grant) ? ` ${PROPOSES}` : ''}`
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value
  } finally {
    await reader.cancel()
  }
}

const SCHEMA = 'Call fetch with type "Schema" and the type as id to see its fields and verbs.'

/** What an agent can do next about a problem. */
const ADVICE: { readonly [code: string]: string } = {
  unknown_type: 'Call fetch with type "Schema" and no id to see all types.',
  unknown_verb: SCHEMA,
  invalid_filter: SCHEMA,
  invalid_sort: SCHEMA,
  invalid_include: SCHEMA,
  validation_error: SCHEMA,
  invalid_transition: 'Fetch the entity and choose a verb that its state allows.',
  not_found: 'Search for it: results contain the $id.',
  forbidden: 'Continue without it, or ask for a key with that scope.',
  conflict: 'Search for the existing entity and use it.',
  version_mismatch: 'Fetch the entity again and retry with its new state.',
  rejected: 'A rule of this tenant refuses it; change your input accordingly.',
  invalid_cursor: 'Omit the cursor and begin with the first page.',
  over_budget: 'Narrow the filter.',
  rate_limited: 'Wait a moment and try again.',
  busy: 'Wait a second and try again.',
  unavailable: 'Wait a few seconds and try again.',
  script_error: 'Correct the code and run it again; dryRun tests it without writing.',
  script_timeout: 'Do less in one run: use a narrower filter, or one page per run.',
  script_memory: 'Keep less data: use limit, or count instead of find.',
  script_operations: 'Split the work over several runs.',
  script_result: 'Return only the fields that you need.',
}

/** A problem as an agent reads it: what went wrong, what to do next, and how to take back what was written before it. */
function adviceOn({ code, message, about }: Problem): object {
  const written = typeof about.correlation === 'string'
  // Code that lacks a right is not what has to change.
  const advice = ADVICE[about.reason === 'forbidden' ? about.reason : code]
  const next = [advice, written && `Earlier writes remain; POST …/undo/${about.correlation} undoes them.`].filter(
    Boolean,
  )
  return { error: code, message, ...about, ...(next.length > 0 && { next: next.join(' ') }) }
}
