import { isPlainObject, Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { limitOf } from '@tildebase/tenant/internal'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ANY_OBJECT, listOf, record, ref, TEXT, WHOLE, whole } from '../describe/schema.ts'
import { contentReply, entityContent, json, type Reply } from '../reply.ts'
import { readRoute, streamRoute, writeRoute } from '../route.ts'

/** What a webhook has in addition to the verbs of every type. */
export const webhookRoutes: readonly Route[] = [
  readRoute('GET /Webhook/:id/deliveries', {
    summary: 'List the deliveries of a webhook',
    needs: 'admin:platform',
    params: [query('state', 'Only deliveries in this state.', 'Failed'), 'limit', 'cursor'],
    answers: { 200: answer(listOf(ANY_OBJECT)) },
    handle: deliveries,
  }),
  writeRoute('POST /Webhook/:id/redeliver', {
    summary: 'Send deliveries again',
    needs: 'admin:platform',
    body: jsonBody(
      record('', { deliveryId: TEXT }, []),
      { deliveryId: 'delivery_17' },
      'The delivery to send again; without it, all that failed.',
      false,
    ),
    answers: { 200: answer(whole({ queued: WHOLE })) },
    handle: sendAgain,
  }),
  writeRoute('POST /Webhook/:id/rotate', {
    summary: 'Create a new secret for a webhook',
    needs: 'admin:platform',
    body: null,
    answers: { 200: answer({ allOf: [ref('Webhook')], ...whole({ secret: TEXT }) }) },
    handle: rotate,
  }),
  streamRoute('POST /Webhook/:id/test', {
    summary: 'Send a test event to a webhook',
    needs: 'admin:platform',
    body: null,
    answers: { 200: answer(ANY_OBJECT) },
    handle: test,
  }),
]

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
