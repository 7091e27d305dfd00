import { type Noun, Problem } from '@tildebase/nouns'
import { DEFAULT_LIMIT, limitOf } from '@tildebase/tenant'
import { type Call, type ReadRoute, textParam } from '../call.ts'
import { json, type Reply } from '../reply.ts'

const READ = { action: 'read', on: 'type' } as const

/** The past of one entity. */
export const historyRoutes: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/:type/:id/history',
    needs: READ,
    mode: 'read',
    summary: 'List the versions of an entity',
    handle: versions,
  },
  {
    method: 'GET',
    path: '/:type/:id/diff',
    needs: READ,
    mode: 'read',
    summary: 'Compare two versions or times',
    handle: compare,
  },
  ...['Form', 'forms'].map(
    (name): ReadRoute => ({
      method: 'GET',
      path: `/${name}/:id/submissions`,
      needs: 'key',
      mode: 'read',
      summary: 'List the submissions of a form',
      handle: submissions,
    }),
  ),
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
