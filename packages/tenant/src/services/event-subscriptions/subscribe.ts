import { isoOf, isPlainObject, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { randomText } from '../../ids.ts'
import { seqAt } from '../../store/log/log.ts'
import { dropEventSubscription, saveEventSubscription } from '../../store/outgoing/event-subscriptions.ts'
import { firstPending } from '../../store/outgoing/outbox.ts'
import { addReceiver, rotateSecret } from '../../store/outgoing/receivers.ts'
import { signatures, signerWith } from '../webhooks/signature.ts'
import { allEventSubscriptions } from './holder.ts'
import { headersOf } from './receiver.ts'
import { type SubscribeRequest, subscribeRequest, subscriptionKey } from './request.ts'

const MINUTE = 60_000
/** How long the secret before the last signs alongside. */
const OVERLAP = 10 * MINUTE
const MOST_OF_HOLDER = 100
const CHALLENGE_MS = 10_000
const LONGEST_ECHO = 4_096
/** Challenges of a tenant per minute: it is not to flood addresses with them. */
const MOST_CHALLENGES = 60

const CHALLENGES = new WeakMap<Engine, { readonly minute: number; count: number }>()

/** Subscribes an agent to events, or renews its subscription. An address that is new to it is challenged first. */
export async function subscribe(engine: Engine, grant: Grant, params: unknown): Promise<JsonObject> {
  const request = subscribeRequest(engine, grant, params)
  demandRoom(engine, request)
  if (!isVerified(engine, request)) await challenge(engine, request)
  const answer = engine.commit(() => save(engine, request))
  engine.cache.forget('EventSubscription')
  engine.ports.alarm.wakeAt(engine.ports.clock.now())
  return answer
}

/** Ends a subscription at the wish of its holder: nothing more is sent. */
export function unsubscribe(engine: Engine, grant: Grant, params: unknown): void {
  const { id } = subscriptionKey(engine, grant, params)
  if (!live(engine, id)) throw new Problem('not_found', 'There is no such subscription.', { kind: 'subscription' })
  engine.commit(() => dropEventSubscription(engine.sql, id))
  engine.cache.forget('EventSubscription')
}

function save(engine: Engine, { secret, ttlMs, cursor, maxAgeMs, noun: _, ...key }: SubscribeRequest): JsonObject {
  const { sql, ports, head } = engine
  const now = ports.clock.now()
  const expiresAt = now + ttlMs
  const isNew = !live(engine, key.id)
  const sealed = ports.vault.encrypt(secret)
  let truncated = false
  if (isNew) {
    const start = startOf(engine, cursor, maxAgeMs)
    truncated = start.truncated
    dropEventSubscription(sql, key.id)
    addReceiver(sql, { id: key.id, secret: sealed, position: start.position >= head.seq ? null : start.position })
    saveEventSubscription(sql, { ...key, createdAt: now, expiresAt })
    return { id: key.id, refreshBefore: isoOf(expiresAt), cursor: String(start.position), truncated }
  }
  rotateSecret(sql, key.id, sealed, now + OVERLAP)
  saveEventSubscription(sql, { ...key, createdAt: now, expiresAt })
  const pending = firstPending(sql, key.id)
  const position = pending === null ? head.seq : pending - 1
  return { id: key.id, refreshBefore: isoOf(expiresAt), cursor: String(position), truncated }
}

/** Where delivery begins: now, or after a position. One that cannot be read begins now, and says so. */
function startOf(engine: Engine, cursor: string | null, maxAgeMs: number | null) {
  const { head, sql, ports } = engine
  if (cursor === null) return { position: head.seq, truncated: false }
  const asked = /^\d{1,15}$/.test(cursor) ? Number(cursor) : Number.NaN
  if (!(asked <= head.seq)) return { position: head.seq, truncated: true }
  const floor = maxAgeMs === null ? 0 : seqAt(sql, head, ports.clock.now() - maxAgeMs)
  return { position: Math.max(asked, floor), truncated: floor > asked }
}

function live(engine: Engine, id: string): boolean {
  const now = engine.ports.clock.now()
  return allEventSubscriptions(engine).some((one) => one.id === id && !one.isEnded && one.expiresAt > now)
}

function demandRoom(engine: Engine, { id, actor, consent }: SubscribeRequest): void {
  const own = allEventSubscriptions(engine).filter((one) => one.actor === actor && one.consent === consent)
  if (own.length < MOST_OF_HOLDER || own.some((one) => one.id === id)) return
  throw new Problem('too_many', `At most ${MOST_OF_HOLDER} subscriptions are possible.`, {
    limit: 'subscriptions',
    max: MOST_OF_HOLDER,
  })
}

/** Whether this holder has shown that the address asks for its events. What one holder has shown is nothing for another. */
function isVerified(engine: Engine, { actor, consent, url }: SubscribeRequest): boolean {
  const now = engine.ports.clock.now()
  return allEventSubscriptions(engine).some(
    (one) => one.actor === actor && one.consent === consent && one.url === url && !one.isEnded && one.expiresAt > now,
  )
}

/** Sends a nonce to the address, which must return it: no address is flooded at the wish of another caller. */
async function challenge(engine: Engine, { id, url, secret }: SubscribeRequest): Promise<void> {
  const { outbound, clock, random, seal } = engine.ports
  if (!outbound)
    throw new Problem('not_supported', 'This host sends no requests.', { feature: 'deliveryMode', value: 'webhook' })
  countChallenge(engine)
  const nonce = randomText(random, 40)
  const body = JSON.stringify({ type: 'verification', challenge: nonce })
  const message = `msg_verification_${randomText(random, 20)}`
  const answer = await outbound.send({
    url,
    headers: {
      'content-type': 'application/json',
      ...signatures(seal, signerWith(secret), message, body, clock.now()),
      ...headersOf(id),
    },
    body,
    timeoutMs: CHALLENGE_MS,
    answerLimit: LONGEST_ECHO,
  })
  const reason = 'error' in answer ? categoryOf(answer.error) : statusCategory(answer.status)
  const echo = 'error' in answer ? '' : echoIn(answer.text ?? '')
  if (reason === null && seal.equal(seal.sha256(echo), seal.sha256(nonce))) return
  throw new Problem('unavailable', 'The address did not return the challenge.', {
    reason: reason ?? 'challenge_failed',
  })
}

function countChallenge(engine: Engine): void {
  const minute = Math.floor(engine.ports.clock.now() / MINUTE)
  const known = CHALLENGES.get(engine)
  const counted = known?.minute === minute ? known : { minute, count: 0 }
  CHALLENGES.set(engine, counted)
  if (++counted.count <= MOST_CHALLENGES) return
  throw new Problem('too_many', `At most ${MOST_CHALLENGES} addresses are challenged per minute. Try again later.`, {
    limit: 'challenges',
    max: MOST_CHALLENGES,
  })
}

/** The kind of a failure. The words of the other side are not passed on. */
function categoryOf(error: string): string {
  if (/within \d+ ms|timed? ?out/i.test(error)) return 'timeout'
  return /certificate|tls|ssl/i.test(error) ? 'tls_error' : 'connection_refused'
}

function statusCategory(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 500) return 'http_5xx'
  return status >= 400 ? 'http_4xx' : 'challenge_failed'
}

function echoIn(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) && typeof value.challenge === 'string' ? value.challenge : ''
  } catch {
    return text.trim()
  }
}
