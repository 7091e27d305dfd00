import { isoOf } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { readEntry } from '../../store/log.ts'
import type { Attempt, Delivery } from '../../store/outbox.ts'
import { eventText } from '../../view/event.ts'
import { WEBHOOK_DEFAULTS } from './retry.ts'
import { signatures } from './signature.ts'
import type { Subscription } from './subscription.ts'
import { traceHeader } from './trace.ts'

const AGENT = 'Tildebase/0.1'

/** Sends one delivery and tells how it went. Never throws. */
export async function send(tenant: Engine, to: Subscription, delivery: Delivery): Promise<Attempt> {
  const { outbound, clock, seal } = tenant.ports
  const started = clock.now()
  const attempt = (status: number | null, error: string | null): Attempt => ({
    at: isoOf(started),
    status,
    latency: clock.now() - started,
    error,
  })
  if (!outbound) return attempt(null, 'This host sends no webhooks.')
  const { id, body } = messageOf(tenant, delivery)
  const answer = await outbound.post({
    url: to.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': AGENT,
      ...signatures(seal, to, id, body, started),
      ...traceHeader(tenant, delivery.trace),
    },
    body,
    timeoutMs: (tenant.options.webhooks ?? WEBHOOK_DEFAULTS).timeoutMs,
  })
  if ('error' in answer) return attempt(null, answer.error)
  return attempt(answer.status, isSuccess(answer.status) ? null : `The endpoint answered ${answer.status}.`)
}

/** Whether a try delivered. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** What is sent: the event's record, made of the log each time, or a test's own. */
function messageOf(tenant: Engine, { seq, body }: Delivery): { id: string; body: string } {
  if (body !== null) return { id: JSON.parse(body).id, body }
  const event = readEntry(tenant.sql, seq)!
  return { id: event.id, body: eventText(event, tenant) }
}
