import { isPlainObject, Problem } from '@tildebase/nouns'
import {
  deliveriesOf,
  demand,
  entityText,
  filterOf,
  find,
  limitOf,
  redeliver,
  runVerb,
  testWebhook,
} from '@tildebase/tenant'
import { type Call, textParam } from '../call.ts'
import { type HttpResponse, json, jsonText } from '../http.ts'
import type { Route } from '../routes.ts'
import { readerFor } from './params.ts'

type Part = Pick<Route, 'method' | 'mode' | 'summary' | 'handle'> & { readonly last: string }

const PARTS: readonly Part[] = [
  { method: 'GET', last: 'deliveries', mode: 'read', summary: 'List the deliveries of a webhook', handle: deliveries },
  { method: 'POST', last: 'redeliver', mode: 'write', summary: 'Send deliveries again', handle: sendAgain },
  { method: 'POST', last: 'rotate', mode: 'write', summary: 'Give a webhook a new secret', handle: rotate },
  { method: 'POST', last: 'test', mode: 'stream', summary: 'Send a test event to a webhook', handle: test },
]

/** What a webhook has beside the verbs of every type, under both of its names. */
export const webhookRoutes: readonly Route[] = ['webhooks', 'Webhook'].flatMap((name) =>
  PARTS.map(({ last, ...part }): Route => ({ ...part, path: `/${name}/:id/${last}`, needs: 'key' })),
)

function deliveries(call: Call): HttpResponse {
  const id = webhookOf(call)
  return json(
    200,
    deliveriesOf(call.tenant, id, {
      state: textParam(call.query, 'state') ?? null,
      cursor: textParam(call.query, 'cursor') || null,
      limit: limitOf(call.query.get('limit') ?? 25),
    }),
  )
}

function sendAgain(call: Call): HttpResponse {
  const id = webhookOf(call)
  const { deliveryId = null } = bodyOf(call)
  if (deliveryId !== null && typeof deliveryId !== 'string') {
    throw new Problem('invalid_body', 'deliveryId is the id of a delivery, such as delivery_17.', {
      field: 'deliveryId',
    })
  }
  return json(200, { queued: redeliver(call.tenant, id, deliveryId) })
}

function rotate(call: Call): HttpResponse {
  const outcome = runVerb(call.tenant, call.grant, {
    type: 'Webhook',
    verb: 'rotate',
    id: webhookOf(call),
    data: bodyOf(call),
    correlation: call.correlation,
  })
  const text = entityText(outcome.entity, call.context)
  return jsonText(200, `${text.slice(0, -1)},"secret":${JSON.stringify(outcome.secret)}}`)
}

async function test(call: Call): Promise<HttpResponse> {
  return json(200, await testWebhook(call.tenant, webhookOf(call)))
}

/** The id of the webhook that a path names, if the key may see it. */
function webhookOf(call: Call): string {
  const { tenant, grant, params } = call
  const noun = tenant.noun('Webhook')
  demand(grant, 'admin', noun)
  const filter = filterOf(tenant, noun, { $id: params.id })
  const [found] = find(readerFor(call), { type: 'Webhook', filter, limit: 1, total: false }).results
  if (found) return found.id
  throw new Problem('not_found', `There is no Webhook ${params.id}.`, { type: 'Webhook', id: params.id! })
}

function bodyOf(call: Call): { readonly [field: string]: unknown } {
  const body = call.body ?? {}
  if (isPlainObject(body)) return body
  throw new Problem('invalid_body', 'The body must be a JSON object, or be left out.')
}
