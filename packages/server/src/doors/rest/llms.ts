import type { Call, ReadRoute } from '../call.ts'
import { tenantText } from '../llms/tenant-text.ts'
import { contentReply, type Reply } from '../reply.ts'

/** The tenant in words, for language models. */
export const llmsRoutes: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/llms.txt',
    needs: 'key',
    mode: 'read',
    summary: 'Describe the types that the key may read, for language models',
    handle: describe,
  },
]

function describe(call: Call): Reply {
  const text = tenantText(call)
  return contentReply(200, { value: () => text, text: () => text }, { 'content-type': 'text/plain; charset=utf-8' })
}
