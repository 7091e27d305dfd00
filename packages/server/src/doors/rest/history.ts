import { article, type Noun, Problem } from '@tildebase/nouns'
import { DEFAULT_LIMIT, limitOf } from '@tildebase/tenant/internal'
import { type Call, type Route, textParam } from '../call.ts'
import { answer } from '../describe/description.ts'
import { listOf, ref } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** The past of one entity. */
export const historyRoutes: readonly Route[] = [
  readRoute('GET /:type/:id/history', {
    summary: 'List the versions of an entity',
    description: ({ name }) => `Returns the versions of ${article(name)}, newest first, each with its event.`,
    needs: 'read on the type',
    params: ['limit', 'cursor'],
    answers: { 200: answer(listOf(ref('Version')), { description: 'Its versions, newest first.' }) },
    handle: versions,
  }),
  readRoute('GET /:type/:id/diff', {
    summary: 'Compare two versions or times',
    description: ({ name }) => `Compares two versions of ${article(name)} field by field.`,
    needs: 'read on the type',
    params: ['from', 'to'],
    answers: { 200: answer(ref('Diff'), { description: 'What changed.' }) },
    handle: compare,
  }),
  readRoute('GET /Form/:id/submissions', {
    summary: 'List the submissions of a form',
    needs: 'read:marketing',
    params: ['limit', 'cursor'],
    answers: { 200: answer(listOf(ref('Submission'))) },
    handle: submissions,
  }),
]

function versions(call: Call): Reply {
  const noun = readableType(call)
  const { most, before } = pageOf(call)
  return json(200, call.read.history(noun, call.params.id!, most, before))
}

function submissions(call: Call): Reply {
  const { most, before } = pageOf(call)
  return json(200, call.read.submissions(call.read.noun('Form'), call.params.id!, most, before))
}

function pageOf({ query }: Call): { readonly most: number; readonly before: number | null } {
  const limit = query.get('limit')
  const cursor = textParam(query, 'cursor')
  if (cursor !== undefined && !/^\d{1,16}$/.test(cursor)) {
    throw new Problem('invalid_cursor', 'cursor must be the cursor of the previous page, unchanged.', {
      field: 'cursor',
    })
  }
  const before = cursor === undefined ? null : Number(cursor)
  return { most: limit === undefined ? DEFAULT_LIMIT : limitOf(limit), before }
}

function compare(call: Call): Reply {
  const noun = readableType(call)
  const from = textParam(call.query, 'from')
  const to = textParam(call.query, 'to')
  if (from === undefined || to === undefined) {
    const field = from === undefined ? 'from' : 'to'
    throw new Problem('invalid_version', `Give ${field}: a version number or an ISO 8601 time.`, { field })
  }
  return json(200, call.read.diff(noun, call.params.id!, from, to))
}

/** The type that the path names. What is wrong with the rest is said only to keys that may read it. */
function readableType({ read, params }: Call): Noun {
  const noun = read.noun(params.type!)
  read.demand('read', noun)
  return noun
}
