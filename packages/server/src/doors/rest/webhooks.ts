import { isPlainObject, Problem } from '@tildebase/nouns'
import { limitOf, type TenantWriter } from '@tildebase/tenant'
import { type Call, type Route, textParam } from '../call.ts'
import { contentReply, entityContent, json, type Reply } from '../reply.ts'

/** What a webhook has in addition to the verbs of every type, under both of its names. */
export const webhookRoutes: readonly Route[] = ['webhooks', 'Webhook'].flatMap((name): Route[] => [
  {
    method: 'GET',
    path: `/${name}/:id/deliveries`,
    needs: 'key',
    mode: 'read',
    summary: 'List the deliveries of a webhook',
    handle: deliveries,
  },
  {
    method: 'POST',
    path: `/${name}/:id/redeliver`,
    needs: 'key',
    mode: 'write',
    summary: 'Send deliveries again',
    handle: sendAgain,
  },
  {
    method: 'POST',
    path: `/${name}/:id/rotate`,
    needs: 'key',
    mode: 'write',
    summary: 'Create a new secret for a webhook',
    handle: rotate,
  },
  {
    method: 'POST',
    path: `/${name}/:id/test`,
    needs: 'key',
    mode: 'stream',
    summary: 'Send a test event to a webhook',
    handle: test,
  },
])

function deliveries({ read, params, query }: Call): Reply {
  return json(
    200,
    read.reactions.deliveries(params.id!, {
      state: textParam(query, 'state') ?? null,
      cursor: textParam(query, 'cursor') || null,
      limit: limitOf(query.get('limit') ?? 25),
    }),
  )
}

function sendAgain(call: Call, write: TenantWriter): Reply {
  const { deliveryId = null } = bodyOf(call)
  if (deliveryId !== null && typeof deliveryId !== 'string') {
    throw new Problem('invalid_body', 'deliveryId must be the id of a delivery, such as delivery_17.', {
      field: 'deliveryId',
    })
  }
  return json(200, { queued: write.redeliver(call.params.id!, deliveryId) })
}

function rotate(call: Call, write: TenantWriter): Reply {
  const { entity, secret } = write.run({ type: 'Webhook', verb: 'rotate', id: call.params.id, data: bodyOf(call) })
  return contentReply(200, entityContent(entity, call.context, { secret: secret! }))
}

async function test({ tenant, grant, params }: Call): Promise<Reply> {
  return json(200, await tenant.testWebhook(grant, params.id!))
}

function bodyOf(call: Call): { readonly [field: string]: unknown } {
  const body = call.body ?? {}
  if (isPlainObject(body)) return body
  throw new Problem('invalid_body', 'The body must be a JSON object or absent.')
}
