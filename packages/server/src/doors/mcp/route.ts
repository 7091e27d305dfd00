import type { Call, StreamRoute } from '../call.ts'
import type { Reply } from '../reply.ts'

/** The tool protocol, bound to the tenant. No session is kept: every request says all there is to know. */
export const mcpRoutes: readonly StreamRoute[] = [
  {
    method: 'POST',
    path: '/mcp',
    needs: 'key',
    mode: 'stream',
    repeats: true,
    rawBody: true,
    summary: 'Speak MCP',
    handle: answer,
  },
]

/** Loads the protocol with the first message: it is a third of the program, and many services never receive one. */
async function answer(call: Call): Promise<Reply> {
  const { answerMcp } = await import('./answer.ts')
  return answerMcp(call)
}
