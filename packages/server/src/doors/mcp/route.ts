import type { Call, Route } from '../call.ts'
import { answer, EVENT_STREAM, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, either } from '../describe/schema.ts'
import type { Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'

/** What JSON-RPC answers: a message, or several at once. */
const MESSAGES = either(ANY_OBJECT, { type: 'array', items: ANY_OBJECT })

/** The tool protocol, bound to the tenant. No session is kept: every request says all there is to know. */
export const mcpRoutes: readonly Route[] = [
  streamRoute('POST /mcp', {
    summary: 'Speak MCP',
    needs: 'any valid key',
    repeats: true,
    rawBody: true,
    body: jsonBody(MESSAGES, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 'A message of JSON-RPC 2.0, or several.'),
    answers: {
      200: answer(MESSAGES, { content: EVENT_STREAM }),
      202: { description: 'Notifications are accepted and not answered.' },
    },
    handle: answerMessage,
  }),
]

/** Loads the protocol with the first message: it is a third of the program, and many services never receive one. */
async function answerMessage(call: Call): Promise<Reply> {
  const { answerMcp } = await import('./answer.ts')
  return answerMcp(call)
}
