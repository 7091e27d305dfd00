import { isoOf, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { newId } from '../../ids.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { currentOf } from '../../store/entities.ts'
import { readEntry } from '../../store/log/log.ts'
import {
  addTest,
  countDeliveries,
  type Delivery,
  type DeliveryState,
  delivery,
  hastenRetries,
  listDeliveries,
  requeue,
  requeueFailed,
} from '../../store/outgoing/outbox.ts'
import { entityView } from '../../view/entity.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { notFound } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { recordAttempts } from './attempts.ts'
import { demandCoversWebhook } from './author.ts'
import { EventTexts } from './event-texts.ts'
import { send } from './send.ts'
import { subscriptions } from './subscription.ts'

/** The states that a reader of deliveries knows, each with those it represents in the outbox. */
const STATES: { readonly [state: string]: readonly DeliveryState[] } = {
  pending: ['new', 'retry'],
  delivered: ['delivered'],
  failed: ['failed'],
  test: ['test'],
}

/** Which deliveries are asked for: newest first, before one of them. */
export interface DeliveryQuestion {
  readonly state: string | null
  readonly cursor: string | null
  readonly limit: number
}

/** The deliveries of a webhook with their attempts, in the list envelope. */
export function deliveriesOf(
  engine: Engine,
  grant: Grant,
  webhook: string,
  { state, cursor, limit }: DeliveryQuestion,
): JsonObject {
  demandWebhook(engine, grant, webhook)
  const states = state === null ? Object.values(STATES).flat() : STATES[state]
  if (!states) {
    throw new Problem('invalid_parameter', `state is ${Object.keys(STATES).join(', ')}.`, { field: 'state' })
  }
  const before = cursor === null ? Number.MAX_SAFE_INTEGER : numberOf(cursor, 'invalid_cursor', 'cursor')
  const found = listDeliveries(engine.sql, webhook, states, before, limit + 1)
  const shown = found.slice(0, limit)
  const hasMore = found.length > limit
  return {
    results: shown.map((one) => deliveryView(engine, grant, one)),
    total: countDeliveries(engine.sql, webhook, states),
    hasMore,
    cursor: hasMore ? idOf(shown.at(-1)!) : null,
  }
}

/** Queues one delivery again, or all that failed, those that wait for a retry included. Returns how many. */
export function redeliver(write: Write, webhook: string, id: string | null): number {
  const { sql } = write
  demandWebhook(write.engine, write.grant, webhook)
  demandCoversWebhook(write.engine, write.grant, webhook)
  write.wakeAt(write.context.clock.now())
  if (id === null) return hastenRetries(sql, webhook) + requeueFailed(sql, webhook)
  const number = numberOf(id, 'not_found', 'deliveryId')
  if (!delivery(sql, webhook, number)) {
    throw new Problem('not_found', `This webhook has no delivery ${id}.`, { id, field: 'deliveryId' })
  }
  requeue(sql, number)
  return 1
}

/** Sends a test event to a webhook, once, and returns how that went. It is not in the log. */
export async function testWebhook(transactor: Transactor, grant: Grant, webhook: string): Promise<JsonObject> {
  const { engine } = transactor
  demandWebhook(engine, grant, webhook)
  demandCoversWebhook(engine, grant, webhook)
  const subscription = subscriptions(engine).get(webhook)
  const current = currentOf(engine.sql, 'Webhook', webhook)
  if (!subscription || !current) {
    throw new Problem('conflict', 'This webhook is suspended. Update it to make it active again.', { id: webhook })
  }
  const { clock, random } = engine.ports
  const at = clock.now()
  const body = JSON.stringify({
    id: newId('event', clock, random),
    type: 'Webhook.tested',
    timestamp: isoOf(at),
    tenant: engine.slug,
    data: entityView(current, engine.context),
  })
  const test = engine.commit(() => addTest(engine.sql, webhook, engine.head.seq, at, body))
  const attempt = await send(engine, new EventTexts(engine), subscription, test)
  if (attempt !== null) recordAttempts(transactor, [{ delivery: test, attempt }])
  return deliveryView(engine, grant, delivery(engine.sql, webhook, test.id) ?? test)
}

/** Refuses a grant that may not administer this webhook. */
function demandWebhook(engine: Engine, grant: Grant, id: string): void {
  const noun = engine.noun('Webhook')
  demand(grant, 'admin', noun)
  if (!isVisible(engine, grant, noun, id)) throw notFound(noun.name, id)
}

/** A delivery as readers see it: what came of the last attempt, and all of them. An event that they may not see has no id. */
function deliveryView(engine: Engine, grant: Grant, one: Delivery): JsonObject {
  const record = one.body === null ? readEntry(engine.sql, one.seq) : undefined
  const event = record && visibilityOf(engine, grant, null).show(record)
  const test = one.body === null ? null : (JSON.parse(one.body) as { id: string; type: string })
  const last = one.attempts.at(-1)
  return {
    id: idOf(one),
    webhook: one.webhook,
    event: event?.id ?? test?.id ?? null,
    type: event ? `${event.type}.${event.event}` : (test?.type ?? null),
    seq: event ? one.seq : null,
    state: Object.keys(STATES).find((state) => STATES[state]!.includes(one.state))!,
    createdAt: isoOf(one.at),
    nextAttemptAt: one.due === null ? null : isoOf(Math.max(one.due, one.at)),
    status: last?.status ?? null,
    latency: last?.latency ?? null,
    error: last?.error ?? null,
    attempts: one.attempts.map((attempt) => ({ ...attempt })),
  }
}

function idOf({ id }: Delivery): string {
  return `delivery_${id}`
}

function numberOf(text: string, code: string, field: string): number {
  const [, digits] = /^delivery_(\d{1,15})$/.exec(text) ?? []
  if (digits !== undefined) return Number(digits)
  throw new Problem(code, `${text.slice(0, 60)} is not the id of a delivery, such as delivery_17.`, { field })
}
