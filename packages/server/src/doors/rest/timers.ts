import type { Call, Route } from '../call.ts'
import { json, type Reply } from '../reply.ts'

/** The timers of entities. */
export const timerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/:type/:id/timers',
    needs: { action: 'read', on: 'type' },
    mode: 'read',
    summary: 'List the pending timers of an entity',
    handle: timers,
  },
]

function timers({ read, params }: Call): Reply {
  return json(200, read.reactions.timers(read.noun(params.type!), params.id!))
}
