import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { numberText } from '../format.ts'
import type { Entity, Page } from '../schema.ts'
import type { LogEvent } from '../tail.ts'
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

interface Delivery extends Omit<Attempt, 'at'> {
  readonly id: string
  /** The type of the event, and its place in the log; a test is not in the log. */
  readonly type: string | null
  readonly seq: number | null
  readonly state: string
  readonly createdAt: string
  readonly attempts: readonly Attempt[]
}

const STATES = ['pending', 'delivered', 'failed', 'test']

/** What was sent to a webhook, try by try, newest first. */
export function Deliveries(props: { hook: Entity; turn: number; writes: boolean; onDone: () => void }) {
  const path = `/webhooks/${props.hook.$id}`
  const found = useAnswer<Page<Delivery>>(
    (signal) => ask('GET', `${path}/deliveries`, { query: { limit: 50 }, signal }),
    [path, props.turn],
  )
  const redeliver = (deliveryId?: string) =>
    ask<{ queued: number }>('POST', `${path}/redeliver`, { body: { deliveryId } }).then(({ queued }) => {
      say(`${numberText(queued)} on the way again.`)
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
                <Act onRun={props.onRedeliver}>Redeliver</Act>
              </p>
            )}
            <ul class="attempts">
              {delivery.attempts.map((attempt) => (
                <li key={attempt.at}>
                  <Time iso={attempt.at} />: {resultText(attempt)}
                </li>
              ))}
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
  const found = useAnswer<{ results: LogEvent[] }>(
    (signal) => ask('GET', '/events', { query: { cursor: seq - 1, limit: 1, total: false }, signal }),
    [seq],
  )
  const event = found.value?.results.find((one) => one.seq === seq)
  return event ? <JsonText value={event} label="Payload" /> : <Trouble error={found.error} />
}

function resultText({ status, latency, error }: Omit<Attempt, 'at'>): string {
  return `${error ?? status ?? 'no answer'} in ${numberText(latency)} ms`
}
