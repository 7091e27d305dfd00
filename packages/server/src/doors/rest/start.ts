import type { Call, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ANY_OBJECT } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** What a program finds at the tenant's own address. A browser is sent on to the console. */
export const startRoutes: readonly Route[] = [
  readRoute('GET ', {
    summary: 'Read an index of links',
    needs: 'any valid key',
    answers: { 200: answer(ANY_OBJECT) },
    handle: start,
  }),
]

function start({ tenant, context, address, lens }: Call): Reply {
  const at = (path: string) => `${address}/${path}`
  return json(200, {
    service: 'Tildebase',
    tenant: tenant.slug,
    $context: context,
    lens: lens.names,
    links: {
      self: address,
      types: at('schema'),
      status: at('status'),
      events: at('events'),
      metrics: at('metrics'),
      openapi: at('openapi.json'),
      docs: at('docs'),
      llms: at('llms.txt'),
      mcp: at('mcp'),
    },
  })
}
