import { json } from '../http.ts'
import { status } from '../mcp/run.ts'
import type { Route } from '../routes.ts'

/** How the tenant stands, and what the key may do: the same for agents and for people. */
export const statusRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/status',
    needs: 'key',
    mode: 'read',
    summary: 'Tell how the tenant stands and what the key may do',
    handle: (call) => json(200, status(call)),
  },
]
