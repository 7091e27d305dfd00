import { article, Problem } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { record, ref, TEXT_OR_NULL } from '../describe/schema.ts'
import { contentReply, entityContent, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'

/** A person's right to be forgotten. */
export const eraseRoutes: readonly Route[] = [
  streamRoute('POST /:type/:id/erase', {
    summary: 'Erase an entity and its history permanently',
    description: ({ name }) =>
      `Removes the data of ${article(name)} from all versions and events, permanently. The hashes of the log stay valid.`,
    needs: 'admin on the type',
    also: 'admin:platform',
    body: jsonBody(
      record('', { reason: TEXT_OR_NULL }, []),
      { reason: 'The person asked for it.' },
      'The reason, which is recorded permanently.',
      false,
    ),
    answers: ({ name }) => ({ 200: answer(ref(name), { description: 'The entity without its data.' }) }),
    handle: run,
  }),
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
