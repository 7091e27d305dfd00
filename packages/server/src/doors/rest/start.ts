import type { Call, ReadRoute } from '../call.ts'
import { json, type Reply } from '../reply.ts'

/** What a program finds at the tenant's own address. A browser is sent on to the console. */
export const startRoutes: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '',
    needs: 'key',
    mode: 'read',
    summary: 'Read an index of links',
    handle: start,
  },
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
