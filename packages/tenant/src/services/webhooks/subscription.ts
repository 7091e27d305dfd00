import { type Filter, type JsonObject, match, noun, parseFilter } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { regexFault, regexTest } from '../../query/regex.ts'
import { type EventVisibility, visibilityOf } from '../../query/visibility.ts'
import { currentOf } from '../../store/entities.ts'
import type { LogRow } from '../../store/log.ts'
import { type Receiver, receivers } from '../../store/receivers.ts'
import { eventView } from '../../view/event.ts'
import { keyOf, type Signer } from './signature.ts'

/** A webhook that is there, ready to tell which events it wants. */
export interface Subscription extends Receiver, Signer {
  readonly url: string
  readonly isFailing: boolean
  wants(event: LogRow): boolean
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
    changed: 'string[]',
    seq: 'number',
    verb: 'string',
    entityType: 'string',
    entityId: 'string',
    version: 'number',
    actor: 'string',
    correlation: 'string',
  },
  { domain: 'platform' },
)

/** The webhooks of a tenant by their id, kept until one of them changes. */
export function subscriptions(tenant: Engine): ReadonlyMap<string, Subscription> {
  return tenant.cache.get(['Webhook', 'Schema'], 'subscriptions', () => {
    const found = receivers(tenant.sql).flatMap((receiver) => subscriptionOf(tenant, receiver) ?? [])
    return new Map(found.map((subscription) => [subscription.id, subscription]))
  })
}

/** A filter over the records of events, or a Problem that says what is wrong with it. */
export function recordFilter(tenant: Engine, json: unknown): Filter {
  return parseFilter(json, Record, { get: () => undefined }, tenant.now(), { regex: regexFault })
}

/** Whether a record passes a filter. `changed` holds the names of the fields that the event changed. */
export function passes(filter: Filter, record: JsonObject): boolean {
  const changed = Object.keys((record.previous as JsonObject | undefined) ?? {})
  return match(filter, { ...record, changed }, () => [], regexTest)
}

function subscriptionOf(tenant: Engine, receiver: Receiver): Subscription | null {
  const current = currentOf(tenant.sql, 'Webhook', receiver.id)
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as { url: string; events: string[]; status: string; filter?: JsonObject }
  const sight: EventVisibility = visibilityOf(tenant, grantOfReceiver(receiver), data.events)
  const filter = data.filter === undefined ? null : recordFilter(tenant, data.filter)
  return {
    ...receiver,
    key: keyOf(receiver.secret),
    url: data.url,
    isFailing: data.status === 'failing',
    wants: (event) => sight.sees(event) && (filter === null || passes(filter, eventView(event, tenant))),
  }
}

function grantOfReceiver({ id, sees }: Receiver): Grant {
  return { actor: id, ...(JSON.parse(sees) as Pick<Grant, 'scopes' | 'rows'>) }
}
