import { isoOf } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { WEBHOOK_DEFAULTS } from '../../engine/options.ts'
import type { Attempt, Delivery } from '../../store/outgoing/outbox.ts'
import type { EventTexts } from './event-texts.ts'
import { signatures } from './signature.ts'
import type { Subscription } from './subscription.ts'
import { traceHeader } from './trace.ts'

const AGENT = 'Tildebase/0.1'
const UNREADABLE =
  'The signing secret cannot be read: it was encrypted with another TILDE_SECRET_KEY. Set that key, or rotate the secret.'

/** Sends one delivery and tells how it went; null when the webhook may not see the event now: it is then dropped. Never throws. */
export async function send(
  engine: Engine,
  texts: EventTexts,
  to: Subscription,
  delivery: Delivery,
): Promise<Attempt | null> {
  const { outbound, clock, seal } = engine.ports
  const started = clock.now()
  const attempt = (status: number | null, error: string | null): Attempt => ({
    at: isoOf(started),
    status,
    latency: clock.now() - started,
    error,
  })
  const message = messageOf(texts, to, delivery)
  if (message === null) return null
  if (!outbound) return attempt(null, 'This host sends no webhooks.')
  if (to.signer === null) return attempt(null, UNREADABLE)
  const { id, body } = message
  const answer = await outbound.send({
    url: delivery.url ?? to.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': AGENT,
      ...signatures(seal, to.signer, id, body, started),
      ...to.form?.headers,
      ...traceHeader(engine, delivery.trace),
    },
    body,
    timeoutMs: (engine.options.webhooks ?? WEBHOOK_DEFAULTS).timeoutMs,
  })
  if ('error' in answer) return attempt(null, answer.error)
  return attempt(answer.status, isSuccess(answer.status) ? null : `The endpoint returned ${answer.status}.`)
}

/** Whether a try delivered. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** What is sent: the event's record, made of the log, or a test's own. */
function messageOf(
  texts: EventTexts,
  to: Subscription,
  { id: number, seq, body }: Delivery,
): { readonly id: string; readonly body: string } | null {
  if (body !== null) {
    const { id, type } = JSON.parse(body) as { id?: string; type: string }
    return { id: id ?? `msg_${type}_${number}`, body }
  }
  const known = texts.of(seq, to.view)
  return known && { id: known.event.id, body: to.form?.body(known.event) ?? known.text }
}
