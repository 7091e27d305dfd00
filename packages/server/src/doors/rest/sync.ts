import type { WriteRoute } from '../call.ts'
import { json } from '../reply.ts'

/** Synchronisation with local databases, in both directions. */
export const syncRoutes: readonly WriteRoute[] = [
  {
    method: 'POST',
    path: '/sync',
    needs: { action: 'write', on: 'each' },
    mode: 'write',
    summary: 'Exchange changes with a local database',
    handle: ({ body }, write) => json(200, write.sync(body)),
  },
]
