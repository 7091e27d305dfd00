import type { ReadRoute } from '../call.ts'
import { json } from '../reply.ts'

/** How the tenant is, and what the key may do: the same for agents and for people. */
export const statusRoutes: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/status',
    needs: 'key',
    mode: 'read',
    summary: 'Read the state of the tenant and the rights of the key',
    handle: ({ read, lens }) => json(200, { ...read.status(), lens: lens.names }),
  },
]
