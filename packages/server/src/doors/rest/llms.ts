import type { Call, Route } from '../call.ts'
import { PLAIN } from '../describe/description.ts'
import { tenantText } from '../llms/tenant-text.ts'
import { contentReply, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The tenant in words, for language models. */
export const llmsRoutes: readonly Route[] = [
  readRoute('GET /llms.txt', {
    summary: 'Describe the types that the key may read, for language models',
    needs: 'any valid key',
    answers: { 200: PLAIN },
    handle: describe,
  }),
]

function describe(call: Call): Reply {
  const text = tenantText(call)
  return contentReply(200, { value: () => text, text: () => text }, { 'content-type': 'text/plain; charset=utf-8' })
}
