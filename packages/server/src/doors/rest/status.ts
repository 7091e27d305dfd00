import type { Route } from '../call.ts'
import { answer } from '../describe/description.ts'
import { ANY_OBJECT } from '../describe/schema.ts'
import { json } from '../reply.ts'
import { readRoute } from '../route.ts'

/** How the tenant is, and what the key may do: the same for agents and for people. */
export const statusRoutes: readonly Route[] = [
  readRoute('GET /status', {
    summary: 'Read the state of the tenant and the rights of the key',
    needs: 'any valid key',
    answers: { 200: answer(ANY_OBJECT) },
    handle: ({ read, lens }) => json(200, { ...read.status(), lens: lens.names }),
  }),
]
