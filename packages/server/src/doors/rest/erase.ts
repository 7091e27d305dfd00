import { Problem } from '@tildebase/nouns'
import type { Call, StreamRoute } from '../call.ts'
import { contentReply, entityContent, type Reply } from '../reply.ts'

/** A person's right to be forgotten. */
export const eraseRoutes: readonly StreamRoute[] = [
  {
    method: 'POST',
    path: '/:type/:id/erase',
    needs: { action: 'admin', on: 'type' },
    mode: 'stream',
    summary: 'Erase an entity and its history permanently',
    handle: run,
  },
]

async function run(call: Call): Promise<Reply> {
  const { tenant, grant, params, writes, budget } = call
  const { reason = null } = (call.body ?? {}) as { reason?: unknown }
  if (reason !== null && typeof reason !== 'string') {
    throw new Problem(
      'invalid_body',
      'reason must be a string. It is recorded permanently, so it must not contain personal data.',
      {
        field: 'reason',
      },
    )
  }
  const { entity } = await tenant.write(grant, writes, budget, (write) =>
    write.erase(write.read.noun(params.type!), params.id!, reason),
  )
  // What was overwritten must not remain in the files next to the database.
  tenant.admin.scrub()
  return contentReply(200, entityContent(entity, call.context))
}
