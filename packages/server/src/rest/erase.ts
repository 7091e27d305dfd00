import { Problem } from '@tildebase/nouns'
import { demandArea, entityView, erase } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

/** A person's right to be forgotten. */
export const eraseRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/:type/:id/erase',
    needs: { action: 'admin', on: 'type' },
    mode: 'stream',
    summary: 'Erase an entity and all its past, for good',
    handle: run,
  },
]

async function run(call: Call): Promise<HttpResponse> {
  const { tenant, grant, params } = call
  demandArea(grant, 'admin', 'platform')
  const { reason = null } = (call.body ?? {}) as { reason?: unknown }
  if (reason !== null && typeof reason !== 'string') {
    throw new Problem('invalid_body', 'reason is a text that stays on record; write no personal data into it.', {
      field: 'reason',
    })
  }
  const done = await call.commits.run(() => erase(tenant, tenant.noun(params.type!), params.id!, grant.actor, reason))
  // What was overwritten must not live on in the files beside the database.
  tenant.sql.scrub?.()
  return json(200, entityView(done.entity, call.context))
}
