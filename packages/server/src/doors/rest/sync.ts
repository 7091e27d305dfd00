import { isPlainObject } from '@tildebase/nouns'
import { MOST_UNKNOWN, type UnknownField, unknownMembers } from '@tildebase/tenant/internal'
import { type Call, flagParam, type Route } from '../call.ts'
import { answer, jsonBody, TASK } from '../describe/description.ts'
import { ref } from '../describe/schema.ts'
import { json } from '../reply.ts'
import { writeRoute } from '../route.ts'
import { unknownInParts, warned } from './unknown-fields.ts'

/** Synchronisation with local databases, in both directions. */
export const syncRoutes: readonly Route[] = [
  writeRoute('POST /sync', {
    summary: 'Exchange changes with a local database',
    needs: 'write on any area',
    body: jsonBody(ref('SyncRequest'), { changes: [] }, 'The changes of the client since lastSyncAt.'),
    answers: { 200: answer(ref('SyncAnswer')), ...TASK },
    taskResult: ['success', 'applied', 'conflicts'],
    handle: function* (call, write) {
      // Before the changes are applied: what they bring is known afterwards.
      const unknown = unknownIn(call)
      return warned(json(200, yield* write.sync(call.body)), unknown)
    },
  }),
]

const MEMBERS = ['lastSyncAt', 'changes', 'replica', 'types', 'limit']
const OF_CHANGE = ['type', 'id', 'operation', 'data', 'timestamp', 'clock']

/** The names in a request that nothing has: of its members, and of fields in its changes. With `strict` they are refused. */
function unknownIn(call: Call): readonly UnknownField[] {
  const { body } = call
  const changes = isPlainObject(body) && Array.isArray(body.changes) ? body.changes.filter(isPlainObject) : []
  const isStrict = flagParam(call.query, 'strict')
  const members = [...unknownMembers(body, MEMBERS, { isStrict })]
  for (const [i, change] of changes.entries()) {
    if (members.length >= MOST_UNKNOWN) break
    members.push(...unknownMembers(change, OF_CHANGE, { isStrict, place: `changes.${i}.` }))
  }
  return [...members, ...unknownInParts(call, changes)].slice(0, MOST_UNKNOWN)
}
