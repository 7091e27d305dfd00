import { Problem } from '@tildebase/nouns'
import { sync } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

/** Synchronisation with local databases, in both directions. */
export const syncRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/sync',
    needs: { action: 'write', on: 'each' },
    mode: 'write',
    summary: 'Exchange changes with a local database',
    handle: exchange,
  },
]

function exchange(call: Call): HttpResponse {
  const { tenant, grant, body, correlation } = call
  if (!grant.scopes.some(({ action }) => action !== 'read')) {
    throw new Problem('forbidden', 'This key may only read. A sync needs write on some area.')
  }
  return json(200, sync(tenant, grant, body, correlation))
}
