import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { limitOf } from '@tildebase/tenant/internal'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, DELETED, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, whole } from '../describe/schema.ts'
import { ownerOf } from '../identity/answers.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, writeRoute } from '../route.ts'

const TIME = { enum: ['now', 'daily', 'never'] }
const CHOICES = { assigned: TIME, mentioned: TIME, ask: TIME, changeset: TIME }
const PAGE = whole({
  results: { type: 'array', items: ANY_OBJECT },
  unread: { type: 'integer' },
  hasMore: FLAG,
  cursor: { type: ['string', 'null'] },
})

/** Notices to a person, and when they are sent. */
export const noticeRoutes: readonly Route[] = [
  readRoute('GET /account/notifications', {
    summary: 'Read which notices you get by e-mail',
    needs: 'a session',
    answers: { 200: answer(whole(CHOICES)) },
    handle: (call: Call): Reply => json(200, call.read.reactions.choices(ownerOf(call))),
  }),
  writeRoute('PUT /account/notifications', {
    summary: 'Choose which notices you get by e-mail',
    needs: 'a session',
    body: jsonBody(record('', CHOICES, []), { mentioned: 'daily' }, 'The kinds to change.'),
    answers: { 200: answer(whole(CHOICES)) },
    handle: (call: Call, write: TenantWriter): Reply => json(200, write.putChoices(ownerOf(call), call.body)),
  }),
  readRoute('GET /account/inbox', {
    summary: 'List what concerns you, newest first',
    description:
      'Assignments, mentions, questions of workflows and changesets, whether they are sent by e-mail or not.',
    needs: 'a session',
    params: ['limit', 'cursor'],
    answers: { 200: answer(PAGE) },
    handle: notices,
  }),
  writeRoute('PUT /account/inbox', {
    summary: 'Note what you have read',
    needs: 'a session',
    body: jsonBody(
      whole({ read: { type: 'integer' } }),
      { read: 12 },
      'The id of the newest notice that you have read.',
    ),
    answers: DELETED,
    handle: readUntil,
  }),
]

function notices(call: Call): Reply {
  const cursor = textParam(call.query, 'cursor')
  const before = cursor === undefined || cursor === '' ? Number.MAX_SAFE_INTEGER : Number(cursor)
  if (!Number.isSafeInteger(before)) {
    throw new Problem('invalid_cursor', `${cursor!.slice(0, 60)} is not a cursor of this list.`, { field: 'cursor' })
  }
  const limit = limitOf(call.query.get('limit') ?? 25)
  return json(200, call.read.reactions.notices(ownerOf(call), { before, limit }))
}

function readUntil(call: Call, write: TenantWriter): Reply {
  const { read } = (call.body ?? {}) as { read?: unknown }
  if (typeof read !== 'number' || !Number.isSafeInteger(read)) {
    throw new Problem('invalid_body', 'read must be the id of a notice.', { field: 'read' })
  }
  write.readNotices(ownerOf(call), read)
  return empty(204)
}
