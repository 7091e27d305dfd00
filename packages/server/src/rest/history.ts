import { Problem } from '@tildebase/nouns'
import { diff, history, limitOf } from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

const READ = { action: 'read', on: 'type' } as const

/** The past of one entity. */
export const historyRoutes: readonly Route[] = [
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
]

function versions(call: Call): HttpResponse {
  const limit = call.query.get('limit')
  const cursor = textParam(call.query, 'cursor')
  if (cursor !== undefined && !/^\d{1,16}$/.test(cursor)) {
    throw new Problem('invalid_cursor', 'Give back the cursor of the page before, as it is.', { field: 'cursor' })
  }
  const before = cursor === undefined ? null : Number(cursor)
  const noun = call.tenant.noun(call.params.type!)
  return json(
    200,
    history(call.tenant, call.grant, noun, call.params.id!, limit === undefined ? 25 : limitOf(limit), before),
  )
}

function compare(call: Call): HttpResponse {
  const from = textParam(call.query, 'from')
  const to = textParam(call.query, 'to')
  if (from === undefined || to === undefined) {
    const field = from === undefined ? 'from' : 'to'
    throw new Problem('invalid_version', `Give ${field}: a version number or an ISO 8601 time.`, { field })
  }
  return json(200, diff(call.tenant, call.grant, call.tenant.noun(call.params.type!), call.params.id!, from, to))
}
