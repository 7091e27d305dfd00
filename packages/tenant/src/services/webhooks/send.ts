import { isoOf } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { WEBHOOK_DEFAULTS } from '../../engine/options.ts'
import type { Attempt, Delivery } from '../../store/outbox.ts'
import type { EventTexts } from './event-texts.ts'
import { signatures } from './signature.ts'
import type { Subscription } from './subscription.ts'
import { traceHeader } from './trace.ts'

const AGENT = 'Tildebase/0.1'
const UNREADABLE =
  'The signing secret cannot be read: it was encrypted with another TILDE_SECRET_KEY. Set that key, or rotate the secret.'

/** Sends one delivery and tells how it went. Never throws. */
export async function send(engine: Engine, texts: EventTexts, to: Subscription, delivery: Delivery): Promise<Attempt> {
  const { outbound, clock, seal } = engine.ports
  const started = clock.now()
  const attempt = (status: number | null, error: string | null): Attempt => ({
    at: isoOf(started),
    status,
    latency: clock.now() - started,
    error,
  })
  if (!outbound) return attempt(null, 'This host sends no webhooks.')
  if (to.signer === null) return attempt(null, UNREADABLE)
  const { id, body } = messageOf(texts, to, delivery)
  const answer = await outbound.post({
    url: delivery.url ?? to.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': AGENT,
      ...signatures(seal, to.signer, id, body, started),
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
function messageOf(texts: EventTexts, to: Subscription, { seq, body }: Delivery): { id: string; body: string } {
  if (body !== null) return { id: JSON.parse(body).id, body }
  const { event, text } = texts.of(seq, to.view)
  return { id: event.id, body: text }
}
