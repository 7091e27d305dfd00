import { article } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ref } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The timers of entities. */
export const timerRoutes: readonly Route[] = [
  readRoute('GET /:type/:id/timers', {
    summary: 'List the pending timers of an entity',
    description: ({ name }) => `Returns the timers of ${article(name)} that will run, the next first.`,
    needs: 'read on the type',
    has: ({ storage }) => storage !== 'log',
    answers: { 200: answer(ref('Timers'), { description: 'Its timers, the next first.' }) },
    handle: timers,
  }),
]

function timers({ read, params }: Call): Reply {
  return json(200, read.reactions.timers(read.noun(params.type!), params.id!))
}
