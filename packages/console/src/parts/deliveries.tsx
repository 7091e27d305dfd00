import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { numberText } from '../format.ts'
import type { Entity, Json, Page } from '../schema.ts'
import { useAnswer } from '../use.ts'
import { Act, Empty, JsonText, Trouble } from './basics.tsx'
import { say, sayError } from './notes.tsx'
import { State, Time } from './value.tsx'

interface Attempt {
  readonly at: string
  readonly status: number | null
  readonly latency: number
  readonly error: string | null
}

interface Delivery {
  readonly id: string | number
  readonly status: string
  readonly event: string | null
  readonly createdAt: string
  readonly attempts: readonly Attempt[]
  readonly payload: Json
}

const STATES = ['pending', 'delivered', 'failed']

/** What was sent to a webhook, try by try, newest first. */
export function Deliveries(props: { hook: Entity; turn: number; writes: boolean; onDone: () => void }) {
  const path = `/webhooks/${props.hook.$id}`
  const found = useAnswer<Page<Delivery>>(
    (signal) => ask('GET', `${path}/deliveries`, { query: { limit: 50 }, signal }),
    [path, props.turn],
  )
  const redeliver = (deliveryId?: Delivery['id']) =>
    ask('POST', `${path}/redeliver`, { body: deliveryId === undefined ? {} : { deliveryId } }).then(() => {
      say('On its way again.')
      props.onDone()
    }, sayError)
  const rows = found.value?.results ?? []
  return (
    <section class="panel" aria-labelledby="deliveries-title">
      <div class="panel-head">
        <h2 id="deliveries-title">Deliveries</h2>
        <button type="button" class="quiet" onClick={found.reload}>
          Refresh
        </button>
        {props.writes && (
          <Act class="quiet" onRun={() => redeliver()}>
            Redeliver all that failed
          </Act>
        )}
      </div>
      <Trouble error={found.error} />
      {found.value && rows.length === 0 && <Empty>Nothing was sent yet.</Empty>}
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

function Line({
  delivery,
  writes,
  onRedeliver,
}: {
  delivery: Delivery
  writes: boolean
  onRedeliver: () => Promise<unknown>
}) {
  const [open, setOpen] = useState(false)
  const last = delivery.attempts.at(-1)
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <Time iso={delivery.createdAt} />
          <State value={delivery.status} values={STATES} />
          <span class="event-type">{delivery.event}</span>
          <span class="event-title">{last && (last.error ?? `${last.status} in ${numberText(last.latency)} ms`)}</span>
        </summary>
        {open && (
          <div class="event-body">
            {writes && <Act onRun={onRedeliver}>Redeliver</Act>}
            <ul class="attempts">
              {delivery.attempts.map((attempt) => (
                <li key={attempt.at}>
                  <Time iso={attempt.at} />: {attempt.status ?? 'no answer'} in {numberText(attempt.latency)} ms
                  {attempt.error && `, ${attempt.error}`}
                </li>
              ))}
            </ul>
            <JsonText value={delivery.payload} label="Payload" />
          </div>
        )}
      </details>
    </li>
  )
}
