import { isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import type { OutboundAnswer } from '../../../ports.ts'
import { jsonIn } from './json.ts'

/** The revision without sessions, and the newest of those with them. */
const STATELESS = '2026-07-28'
const WITH_SESSION = '2025-11-25'
const META = 'io.modelcontextprotocol'
const CLIENT = { name: 'tildebase', version: '0.1' }

/** Sends to the address of a request, with its headers and secrets. Answers come without the secrets. */
export interface Exchange {
  readonly send: (body: Json | undefined, more: { readonly [name: string]: string }) => Promise<OutboundAnswer>
  readonly body: Json | undefined
  /** What an answer says once it is read: JSON can spell a secret in many ways. */
  readonly redact: (value: Json) => Promise<Json>
}

/** The answer of a tool, or why there is none. */
type Called = { readonly answer: Json } | { readonly error: string }

/** What a server answers to a request: a message, or why there is none. */
type Reply =
  | { readonly message: JsonObject; readonly session?: string }
  | { readonly error: string; readonly status: number | null }

/**
 * Calls a tool of an MCP server, `{name, arguments}`: as revision 2026-07-28, or with a session if the server knows only
 * earlier ones. Nothing runs twice: a server refuses a revision that it does not know before it calls the tool.
 */
export async function callTool(exchange: Exchange): Promise<Called> {
  const { name = '', arguments: given } = exchange.body as JsonObject
  const tool = { name, arguments: isPlainObject(given) ? (given as JsonObject) : {} }
  const _meta = {
    [`${META}/protocolVersion`]: STATELESS,
    [`${META}/clientInfo`]: CLIENT,
    [`${META}/clientCapabilities`]: {},
  }
  const headers = { ...headersOf(STATELESS), 'mcp-method': 'tools/call', 'mcp-name': String(name) }
  const reply = await ask(exchange, 'tools/call', { ...tool, _meta }, headers)
  return isRefusal(reply) ? callInSession(exchange, tool) : answerIn(reply)
}

async function callInSession(exchange: Exchange, tool: JsonObject): Promise<Called> {
  const client = { protocolVersion: WITH_SESSION, capabilities: {}, clientInfo: CLIENT }
  const begun = await ask(exchange, 'initialize', client, headersOf())
  if ('error' in begun) return begun
  const { result } = begun.message
  const revision = isPlainObject(result) ? result.protocolVersion : undefined
  if (typeof revision !== 'string') return answerIn(begun)
  const session = begun.session === undefined ? {} : { 'mcp-session-id': begun.session }
  const headers = { ...headersOf(revision), ...session }
  await exchange.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return answerIn(await ask(exchange, 'tools/call', tool, headers))
}

function headersOf(revision?: string): { readonly [name: string]: string } {
  const accept = 'application/json, text/event-stream'
  return { accept, ...(revision !== undefined && { 'mcp-protocol-version': revision }) }
}

/** Sends one request and reads the message that answers it. */
async function ask(
  { send, redact }: Exchange,
  method: string,
  params: JsonObject,
  headers: { readonly [name: string]: string },
): Promise<Reply> {
  const answer = await send({ jsonrpc: '2.0', id: 1, method, params }, headers)
  if ('error' in answer) return { error: answer.error, status: null }
  const { status, text = '', headers: got = {} } = answer
  const message = messageIn(text, got['content-type'] ?? '')
  const session = got['mcp-session-id']
  if (message !== null)
    return { message: (await redact(message)) as JsonObject, ...(session !== undefined && { session }) }
  return { error: `The agent answered ${status}. ${text.slice(0, 300)}`.trim(), status }
}

/** The message that answers a request, in a body or among the events of a stream. */
function messageIn(text: string, type: string): JsonObject | null {
  const texts = /\bevent-stream\b/.test(type)
    ? text.split(/\r?\n\r?\n/).map((event) =>
        event
          .split(/\r?\n/)
          .flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
          .join('\n'),
      )
    : [text]
  for (const one of texts) {
    // What is not a message may be followed by one.
    const message = jsonIn(one)
    if (isPlainObject(message) && ('result' in message || 'error' in message)) return message as JsonObject
  }
  return null
}

/** Whether a server does not know revisions without sessions: it needs an `initialize` first, or another revision. */
function isRefusal(reply: Reply): boolean {
  if ('error' in reply) return reply.status !== null && [400, 404, 405, 406, 422].includes(reply.status)
  const { error } = reply.message
  return isPlainObject(error) && [-32_000, -32_600, -32_602, -32_022, -32_004].includes(Number(error.code))
}

/** The result of a tool: its structured content, else its text, else its content as it is. */
function answerIn(reply: Reply): Called {
  if ('error' in reply) return { error: reply.error }
  const { result, error } = reply.message
  if (isPlainObject(error)) return { error: `The agent refused: ${String(error.message).slice(0, 300)}` }
  if (!isPlainObject(result)) return { error: 'The agent answered without a result.' }
  const { content, structuredContent, isError, resultType } = result as JsonObject
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : []
  const text = parts.flatMap((part) => (typeof part?.text === 'string' ? [part.text] : [])).join('\n')
  if (isError === true) return { error: `The tool failed. ${text.slice(0, 300)}`.trim() }
  if (resultType !== undefined && resultType !== 'complete') {
    return { error: `The agent asks for ${String(resultType).slice(0, 60)}; the service takes a result only.` }
  }
  const isText = parts.length > 0 && parts.every(({ type }) => type === 'text')
  return { answer: structuredContent ?? (isText ? text : (content ?? null)) }
}
