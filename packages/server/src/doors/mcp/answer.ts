import { createMcpHandler, INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server'
import type { Problem } from '@tildebase/nouns'
import { type Call, parseBody } from '../call.ts'
import { isMultipart } from '../files/multipart.ts'
import { contentReply, json, type Reply } from '../reply.ts'
import { problemOf } from '../respond.ts'
import { clientOf, sessionFor } from './client.ts'
import { serverFor } from './server.ts'

/** Answers a message of the tool protocol. */
export async function answerMcp(call: Call): Promise<Reply> {
  const { request: received } = call
  let body: unknown
  // The body of a form is not read as a whole.
  const isForm = isMultipart(received.headers['content-type'])
  try {
    body = isForm ? null : parseBody(received.body as Uint8Array | null)
  } catch (reason) {
    return unread(problemOf(reason))
  }
  const client = clientOf(body, received.headers['mcp-session-id'])
  const handler = createMcpHandler(({ era }) => serverFor(call, client, era === 'modern'))
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
  const session = sessionFor(body)
  const ofSession = session === null ? {} : { 'mcp-session-id': session }
  if (isStream && takesOnlyJson) return textReply(response.status, messageIn(await response.text()), ofSession)
  const { status } = response
  const shown = { ...Object.fromEntries(response.headers), ...ofSession }
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

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value
  } finally {
    await reader.cancel()
  }
}
