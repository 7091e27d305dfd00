import '../../style/pages/events.css'
import type { EventRecord } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { State, Time } from '../parts/value.tsx'
import { asOf } from '../place.ts'
import { useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { JsonText } from '../ui/json-text.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { agoText, numberText } from '../values/format.ts'

interface Attempt {
  readonly at: string
  readonly status: number | null
  readonly latency: number
  readonly error: string | null
}

interface Delivery extends Omit<Attempt, 'at'> {
  readonly id: string
  /** The type of the event, and its place in the log; a test is not in the log. */
  readonly type: string | null
  readonly seq: number | null
  readonly state: string
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly attempts: readonly Attempt[]
}

const STATES = ['pending', 'delivered', 'failed', 'test']

/**
 * Whether deliveries arrive. The service calls a webhook failing after several tries; the last one says it at once. One
 * that ended with the key or the account of its author is suspended, whatever its last delivery was.
 */
export function HookState({ hook }: { hook: Entity }) {
  return hook.suspended === true ? <State value="suspended" /> : <Arrivals hook={hook} />
}

function Arrivals({ hook }: { hook: Entity }) {
  const path = `/webhooks/${hook.$id}`
  const last = useData<Page<Delivery>>(
    ['last delivery', path],
    asOf.value === null ? (signal) => request('GET', `${path}/deliveries`, { query: { limit: 1 }, signal }) : null,
    { types: ['*'] },
  )
  const error = last.value?.results[0]?.attempts.at(-1)?.error ?? null
  return <State value={error === null ? String(hook.status) : 'failing'} />
}

/** What was sent to a webhook, try by try, newest first. */
export function Deliveries(props: { hook: Entity; writes: boolean; onDone: () => void }) {
  const path = `/webhooks/${props.hook.$id}`
  const found = useData<Page<Delivery>>(
    ['deliveries', path],
    (signal) => request('GET', `${path}/deliveries`, { query: { limit: 50 }, signal }),
    { types: ['*'] },
  )
  const redeliver = (deliveryId?: string) =>
    request<{ queued: number }>('POST', `${path}/redeliver`, { body: { deliveryId } }).then(({ queued }) => {
      say(t('{} on the way again.', numberText(queued)))
      found.reload()
      props.onDone()
    }, sayError)
  const rows = found.value?.results ?? []
  return (
    <section class="panel" aria-labelledby="deliveries-title">
      <div class="panel-head">
        <h2 id="deliveries-title">{t('Deliveries')}</h2>
        <button type="button" class="quiet" onClick={found.reload}>
          {t('Refresh')}
        </button>
        {props.writes && (
          <Act class="quiet" onRun={() => redeliver()}>
            {t('Redeliver all that failed')}
          </Act>
        )}
      </div>
      <Failure error={found.error} onRetry={found.reload} />
      {found.value && rows.length === 0 && <EmptyState title={t('Nothing was sent yet')} />}
      <ol class="tail">
        {rows.map((delivery) => (
          <Line
            key={delivery.id}
            delivery={delivery}
            writes={props.writes}
            onRedeliver={() => redeliver(delivery.id)}
          />
        ))}
      </ol>
    </section>
  )
}

function Line(props: { delivery: Delivery; writes: boolean; onRedeliver: () => Promise<unknown> }) {
  const { delivery } = props
  const [open, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <Time iso={delivery.createdAt} />
          <State value={delivery.state} values={STATES} />
          <span class="event-type">{delivery.type}</span>
          <span class="event-title">{delivery.latency !== null && resultText(delivery)}</span>
        </summary>
        {open && (
          <div class="event-body">
            {props.writes && delivery.seq !== null && (
              <p>
                <Act onRun={props.onRedeliver}>{t('Redeliver')}</Act>
              </p>
            )}
            <ul class="attempts">
              {delivery.attempts.map((attempt) => (
                <li key={attempt.at}>
                  <Time iso={attempt.at} />: {resultText(attempt)}
                </li>
              ))}
              {delivery.nextAttemptAt !== null && (
                <li>
                  <Time iso={delivery.nextAttemptAt} />: {t('Next try')} {agoText(delivery.nextAttemptAt)}
                </li>
              )}
            </ul>
            {delivery.seq !== null && <Payload seq={delivery.seq} />}
          </div>
        )}
      </details>
    </li>
  )
}

/** What was sent: the event, as the log still has it. */
function Payload({ seq }: { seq: number }) {
  const found = useData<{ results: EventRecord[] }>(['event', seq], (signal) =>
    request('GET', '/events', { query: { cursor: String(seq - 1), limit: 1, total: false }, signal }),
  )
  const event = found.value?.results.find((one) => one.seq === seq)
  return event ? <JsonText value={event} label={t('Payload')} /> : <Failure error={found.error} />
}

function resultText({ status, latency, error }: Omit<Attempt, 'at'>): string {
  // A reason is a sentence with its full stop.
  return t('{} in {} ms', error?.replace(/\.$/, '') ?? status ?? t('no answer'), numberText(latency))
}
