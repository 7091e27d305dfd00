import { type Filter, type JsonObject, type Look, matcher, noun, parseFilter } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { SharedElements } from '../../query/answer/elements.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { orHidden, orTooLong, regexFault, regexTest } from '../../query/words/regex.ts'
import { currentOf } from '../../store/entities.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { EventSubscription } from '../../store/outgoing/event-subscriptions.ts'
import { enqueueDelivery } from '../../store/outgoing/outbox.ts'
import { type Receiver, receivers } from '../../store/outgoing/receivers.ts'
import { eventView } from '../../view/event.ts'
import type { Write } from '../../write/write.ts'
import { allEventSubscriptions, DEPENDS_ON } from '../event-subscriptions/holder.ts'
import { agentReceiver, type EventForm } from '../event-subscriptions/receiver.ts'
import { authoredWebhook } from './author.ts'
import { keyOf, type Signer } from './signature.ts'

/** A webhook with its compiled subscription. */
export interface Subscription extends Pick<Receiver, 'id' | 'position'> {
  readonly url: string
  /** What its deliveries are signed with; null when the secret was encrypted with another key. */
  readonly signer: Signer | null
  readonly isFailing: boolean
  /** The event as the webhook receives it, or null if it is not subscribed or not visible. */
  show(event: LogRow, look: Look): LogRow | null
  /** An event that was queued for it, as its author may see it now; null when it may not. */
  view(event: LogRow): LogRow | null
  /** The form of its events, where that is not the record. */
  readonly form?: EventForm
}

/** The record of an event as a type, so that a webhook's filter is written in the one query language. */
const Record = noun(
  'EventRecord',
  {
    id: 'string',
    type: 'string',
    timestamp: 'datetime',
    tenant: 'string',
    data: 'json',
    previous: 'json',
    args: 'json',
    changed: 'string[]',
    seq: 'number',
    verb: 'string',
    entityType: 'string',
    entityId: 'string',
    version: 'number',
    actor: 'string',
    onBehalfOf: 'string',
    correlation: 'string',
  },
  { domain: 'platform' },
)

/** The names in the record of an event. */
export const EVENT_RECORD: readonly string[] = Object.keys(Record.fields)

const OF_SUBSCRIPTIONS = ['Webhook', ...DEPENDS_ON]

/** The webhooks of a tenant and the subscriptions of agents by their id, kept until one of them changes. */
export function subscriptions(engine: Engine): ReadonlyMap<string, Subscription> {
  return engine.cache.get(OF_SUBSCRIPTIONS, 'subscriptions', () => {
    const agents = new Map(allEventSubscriptions(engine).map((one) => [one.id, one]))
    const found = receivers(engine.sql).flatMap((receiver) => {
      const ofAgent = agents.get(receiver.id)
      return (ofAgent ? agentSubscription(engine, receiver, ofAgent) : subscriptionOf(engine, receiver)) ?? []
    })
    return new Map(found.map((subscription) => [subscription.id, subscription]))
  })
}

function agentSubscription(engine: Engine, receiver: Receiver, stored: EventSubscription): Subscription {
  const { show, form } = agentReceiver(engine, stored)
  const { id, position } = receiver
  return { id, position, url: stored.url, signer: signerOf(engine, receiver), isFailing: false, show, view: show, form }
}

/** A filter over the records of events, or a Problem that says what is wrong with it. */
export function recordFilter(engine: Engine, json: unknown): Filter {
  return parseFilter(json, Record, { get: () => undefined }, engine.nextTime(), { regex: regexFault })
}

/** Whether a record passes a filter. `changed` holds the names of the fields that the event changed. */
function recordPasses(filter: Filter): (record: JsonObject, look: Look) => boolean {
  let count: Look
  const test = orTooLong(
    matcher(
      filter,
      () => [],
      regexTest,
      (length) => count(length),
    ),
  )
  return (record, look) => {
    count = look
    return test({ ...record, changed: Object.keys((record.previous as JsonObject | undefined) ?? {}) })
  }
}

/** Events as filters look at them: a large one is read once for all webhooks. */
const VIEWS = new WeakMap<LogRow, JsonObject>()

function viewOf(engine: Engine, event: LogRow): JsonObject {
  const view = VIEWS.get(event) ?? eventView(event, engine)
  VIEWS.set(event, view)
  return view
}

function subscriptionOf(engine: Engine, receiver: Receiver): Subscription | null {
  const current = currentOf(engine.sql, 'Webhook', receiver.id)
  if (!current || current.deleted) return null
  const state = JSON.parse(current.data) as JsonObject
  const stored = state.suspended === true ? null : authoredWebhook(engine, receiver.id, state)
  if (stored === null) return null
  const { declaration: data, grant } = act(stored)
  const visibility = visibilityOf(engine, grant, data.events)
  const all = visibilityOf(engine, grant, null)
  const passes = data.filter === undefined ? null : recordPasses(recordFilter(engine, data.filter))
  return {
    id: receiver.id,
    position: receiver.position,
    url: data.url,
    signer: signerOf(engine, receiver),
    isFailing: state.status === 'failing',
    show: (event, look) => {
      const shown = orHidden(() => visibility.show(event, look))
      return shown && (passes === null || passes(viewOf(engine, shown), look)) ? shown : null
    },
    view: all.show,
  }
}

function signerOf({ ports }: Engine, { secret, old }: Receiver): Signer | null {
  const opened = ports.vault.decrypt(secret)
  if (opened === null) return null
  const before = old && ports.vault.decrypt(old.secret)
  return { secret: opened, key: keyOf(opened), old: before ? { secret: before, until: old!.until } : null }
}

/** Queues an event for every subscribed webhook, in the event's own transaction, so that a crash cannot lose it. */
export function enqueueDeliveries(write: Write, event: LogRow): void {
  const all = subscriptions(write.engine)
  if (all.size === 0) return
  let isQueued = false
  // The write of the event waits for all of them.
  const elements = new SharedElements()
  for (const subscription of all.values()) {
    // A webhook that still receives past events will reach this event.
    if (subscription.position !== null || subscription.show(event, elements.one()) === null) continue
    enqueueDelivery(write.sql, subscription.id, event.seq, event.at, write.context.trace)
    isQueued = true
  }
  if (isQueued) write.wakeAt(write.context.clock.now())
}
