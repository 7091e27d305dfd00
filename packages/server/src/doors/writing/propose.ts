import { Problem } from '@tildebase/nouns'
import { entityView, type TenantWriter } from '@tildebase/tenant'
import { type Call, type Route, textParam } from '../call.ts'
import { json, type Reply } from '../reply.ts'
import { redacted } from '../watch/redact.ts'

/** Writes that are not a list of verbs, although they run some. */
const NOT_PROPOSED = new Set(['/sync', '/import/:type', '/:type/:id/erase', '/mcp'])

/** Whether a request is to be proposed instead of executed. What cannot be proposed is refused, never executed. */
export function isProposed(route: Route, { query }: Call): boolean {
  if (!query.has('propose') || route.method === 'GET') return false
  if (!NOT_PROPOSED.has(route.path)) return true
  throw new Problem('invalid_parameter', `${route.method} ${route.path} cannot be proposed. Use a batch, or a fork.`, {
    field: 'propose',
  })
}

/** Tries a write, takes it back and keeps its verbs in a changeset: 202 with that, and with what it would have answered. */
export function proposed(call: Call, write: TenantWriter, work: (call: Call, trial: TenantWriter) => Reply): Reply {
  const into = textParam(call.query, 'propose') ?? ''
  const reason = textParam(call.query, 'reason')
  const source = `${call.request.method} ${call.request.path}`
  const { changeset, preview } = write.propose({ into, reason, source }, (trial) =>
    work({ ...call, read: trial.read }, trial),
  )
  const { entity, operations } = write.changeset(changeset)
  const { address, context } = call
  return json(
    202,
    {
      ...entityView(entity, context),
      operations,
      // A secret that was never issued is not shown.
      preview: redacted(preview.content?.value() ?? null, call.writes.secrets),
    },
    { location: `${address.slice(address.lastIndexOf('/~'))}/changesets/${changeset}` },
  )
}
