import type { Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ref, WHOLE, whole } from '../describe/schema.ts'
import { json } from '../reply.ts'
import { readRoute, streamRoute } from '../route.ts'

/** Writes that take longer than a request may: what became of them. A key sees its own; `admin:all` sees all. */
export const taskRoutes: readonly Route[] = [
  readRoute('GET /tasks', {
    summary: 'List your tasks, newest first',
    needs: 'any valid key',
    answers: { 200: answer(whole({ tasks: { type: 'array', items: ref('Task') }, total: WHOLE })) },
    handle: ({ tenant, grant }) => {
      const tasks = tenant.tasks.list(grant)
      return json(200, { tasks, total: tasks.length })
    },
  }),
  readRoute('GET /tasks/:task', {
    summary: 'Read the progress of a task, or what came of it',
    needs: 'any valid key',
    answers: { 200: answer(ref('Task')) },
    handle: ({ tenant, grant, params }) => json(200, tenant.tasks.get(grant, params.task!)),
  }),
  streamRoute('DELETE /tasks/:task', {
    summary: 'Cancel a task',
    description: 'Ends a task that has not ended, and answers when nothing of it is left.',
    needs: 'any valid key',
    answers: { 200: answer(ref('Task')) },
    handle: async ({ tenant, grant, params }) => json(200, await tenant.tasks.cancel(grant, params.task!)),
  }),
]
