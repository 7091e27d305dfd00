import type { Route } from '../call.ts'
import { answer, jsonBody, TASK } from '../describe/description.ts'
import { ref } from '../describe/schema.ts'
import { json } from '../reply.ts'
import { writeRoute } from '../route.ts'

/** Synchronisation with local databases, in both directions. */
export const syncRoutes: readonly Route[] = [
  writeRoute('POST /sync', {
    summary: 'Exchange changes with a local database',
    needs: 'write on any area',
    body: jsonBody(ref('SyncRequest'), { changes: [] }, 'The changes of the client since lastSyncAt.'),
    answers: { 200: answer(ref('SyncAnswer')), ...TASK },
    taskResult: ['success', 'applied', 'conflicts'],
    handle: function* ({ body }, write) {
      return json(200, yield* write.sync(body))
    },
  }),
]
