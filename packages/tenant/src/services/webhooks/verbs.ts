import {
  type Issue,
  invalid,
  isPattern,
  isPlainObject,
  type Json,
  type JsonObject,
  Problem,
  resolveInstant,
  sameJson,
  type Verb,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { currentOf, liveCount } from '../../store/entities.ts'
import { seqAt } from '../../store/log/log.ts'
import { dropPending, keepAddress } from '../../store/outgoing/outbox.ts'
import { addReceiver, rotateSecret, setPosition } from '../../store/outgoing/receivers.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest, VerbResult } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { neverEmitted } from '../events/emitted.ts'
import { authoredWebhook, demandCoversWebhook, storeWebhook, webhookForm } from './author.ts'
import { newSecret, secretFault } from './signature.ts'
import { recordFilter } from './subscription.ts'

/** Webhooks of a tenant: each event is shown to all of them before its write is answered. */
const MOST_WEBHOOKS = 500
const MOST_PATTERNS = 100
const LONGEST_URL = 2_048
const OVERLAP = 86_400_000

/** A new secret: a verb of the service's own, whose event tells that it happened and nothing more. */
const ROTATE: Verb = { name: 'rotate', before: 'rotating', event: 'rotated' }

/** The verbs of Webhook. */
export const webhookVerbs: { readonly [name: string]: SpecialVerb } = {
  'Webhook.create': createWebhook,
  'Webhook.update': updateWebhook,
  'Webhook.delete': deleteWebhook,
  'Webhook.rotate': rotateWebhook,
  'Webhook.restore': reviveWebhook,
  'Webhook.rollback': reviveWebhook,
}

/** Creates a webhook. Its secret is in this answer and nowhere else that can be asked. */
function createWebhook(write: Write, request: VerbRequest): RunResult {
  const { engine } = write
  const { secret: given, ...sent } = fieldsOf(request.data)
  refuse(checked(engine, sent, given))
  if (liveCount(engine.sql, 'Webhook') >= MOST_WEBHOOKS)
    throw new Problem('too_many', `A tenant can have ${MOST_WEBHOOKS} webhooks. Delete one.`, { limit: MOST_WEBHOOKS })
  const draft = withNormalUrl(sent)
  const secret = (given as string | undefined) ?? newSecret(write.context.random)
  const result = applyVerb(write, { ...request, data: draft })
  addReceiver(engine.sql, {
    id: result.entity.id,
    secret: engine.ports.vault.encrypt(secret),
    position: draft.from === undefined || draft.from === null ? null : positionOf(engine, draft.from),
  })
  storeWebhook(write, result.entity.id, JSON.parse(result.entity.data) as JsonObject)
  changed(write)
  return { ...result, secret }
}

/**
 * Updates a webhook. The caller is the author of a declaration that it changes. A new `secret` replaces the one before as a rotation does; a new `from` sends history again. What
 * waits goes to the address that it was queued for, unless `redirect` is true.
 */
function updateWebhook(write: Write, request: VerbRequest): VerbResult {
  const { engine, sql } = write
  demandCoversWebhook(engine, write.grant, request.id ?? '')
  const { secret, redirect, ...sent } = fieldsOf(request.data)
  refuse(checked(engine, sent, secret))
  const patch = withNormalUrl(sent)
  const before = dataOf(write, request.id ?? '')
  const isSuspended = before?.suspended === true
  const result = applyVerb(write, {
    ...request,
    data: patch,
    ...(isSuspended && { serviceFields: { suspended: null } }),
  })
  const { id } = result.entity
  if (before && patch.url !== undefined && patch.url !== before.url && redirect !== true) {
    keepAddress(sql, id, String(before.url))
  }
  const after = JSON.parse(result.entity.data) as JsonObject
  const isChanged = !sameJson(webhookForm(before ?? {}), webhookForm(after))
  if (isChanged || authoredWebhook(engine, id, after) === null) storeWebhook(write, id, after)
  if (secret !== undefined) rotate(write, id, secret as string)
  if (patch.from !== undefined && patch.from !== null) setPosition(sql, id, positionOf(engine, patch.from))
  changed(write)
  return result
}

/** Creates a new secret for a webhook and returns it once; the old one also signs for a day. */
function rotateWebhook(write: Write, request: VerbRequest): RunResult {
  demandCoversWebhook(write.engine, write.grant, request.id ?? '')
  const given = fieldsOf(request.data ?? {}).secret
  refuse(given === undefined ? [] : secretIssues(given))
  const secret = (given as string | undefined) ?? newSecret(write.context.random)
  const result = applyVerb(write, { ...request, data: {}, internalVerb: ROTATE })
  rotate(write, result.entity.id, secret)
  changed(write)
  return { ...result, secret }
}

/** Brings an earlier state of a webhook back, with the author that it had. */
function reviveWebhook(write: Write, request: VerbRequest): VerbResult {
  const { engine, grant } = write
  return write.attempt(() => {
    demandCoversWebhook(engine, grant, request.id ?? '')
    const result = applyVerb(write, request)
    demandCoversWebhook(engine, grant, result.entity.id)
    changed(write)
    return result
  })
}

/** Deletes a webhook, with what it still had to be sent. */
function deleteWebhook(write: Write, request: VerbRequest): VerbResult {
  demandCoversWebhook(write.engine, write.grant, request.id ?? '')
  const result = applyVerb(write, request)
  dropPending(write.sql, result.entity.id)
  return result
}

function dataOf({ sql }: Write, id: string): JsonObject | null {
  const current = currentOf(sql, 'Webhook', id)
  return current ? JSON.parse(current.data) : null
}

/** What the verb itself cannot know to be wrong with a webhook. */
function checked(engine: Engine, fields: JsonObject, secret: unknown): Issue[] {
  const { url, events, filter, from } = fields
  return [
    ...(typeof url === 'string' ? urlIssues(engine, url) : []),
    ...(Array.isArray(events) ? eventsIssues(engine, events) : []),
    ...(secret === undefined ? [] : secretIssues(secret)),
    ...(filter === undefined || filter === null ? [] : filterIssues(engine, filter)),
    ...(from === undefined || from === null || fromSeq(engine, from) !== null ? [] : [FROM_ISSUE]),
  ]
}

/** The fields with the URL as it is called: without spaces, control characters and other spellings of its host. */
function withNormalUrl(fields: JsonObject): JsonObject {
  return typeof fields.url === 'string' ? { ...fields, url: new URL(fields.url).href } : fields
}

function urlIssues(engine: Engine, text: string): Issue[] {
  const insecure = engine.options.webhooks?.insecure ?? false
  const url = URL.canParse(text) ? new URL(text) : null
  const schemes = insecure ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol)) {
    return [{ field: 'url', message: `must be an ${insecure ? 'https or http' : 'https'} URL` }]
  }
  if (text.length > LONGEST_URL) return [{ field: 'url', message: `may have ${LONGEST_URL} characters` }]
  if (url.username !== '' || url.password !== '')
    return [{ field: 'url', message: 'must not contain a user name or a password; deliveries are signed instead' }]
  const refusal = engine.ports.outbound?.refuses?.(text) ?? null
  return refusal === null ? [] : [{ field: 'url', message: `is not allowed. ${refusal}` }]
}

function eventsIssues(engine: Engine, events: readonly Json[]): Issue[] {
  if (events.length === 0)
    return [{ field: 'events', message: 'must name at least one event, such as Contact.created' }]
  if (events.length > MOST_PATTERNS) return [{ field: 'events', message: `may hold ${MOST_PATTERNS} patterns` }]
  return events.flatMap((event) => {
    if (typeof event !== 'string') return []
    if (isPattern(event)) {
      const fault = neverEmitted(engine.nouns, event)
      return fault === null ? [] : [{ field: 'events', message: fault }]
    }
    const message = `${event.slice(0, 80)} is not an event: use *, *.created, Contact.* or Contact.created`
    return [{ field: 'events', message }]
  })
}

function secretIssues(secret: unknown): Issue[] {
  const fault = secretFault(secret)
  return fault === null ? [] : [{ field: 'secret', message: fault }]
}

function filterIssues(engine: Engine, filter: Json): Issue[] {
  try {
    recordFilter(engine, filter)
    return []
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return [{ field: 'filter', message: reason.message }]
  }
}

const FROM_ISSUE: Issue = {
  field: 'from',
  message: 'must be a seq, such as 1, or a time, such as 2026-01-31T12:00:00Z',
}

/** The seq before the first event that a webhook with this `from` receives. */
function positionOf(engine: Engine, from: Json): number {
  return fromSeq(engine, from) ?? engine.head.seq
}

function fromSeq(engine: Engine, from: Json): number | null {
  if (typeof from === 'number') return Number.isSafeInteger(from) && from >= 0 ? Math.max(from - 1, 0) : null
  const at = typeof from === 'string' ? resolveInstant(from, engine.nextTime()) : null
  return at === null ? null : seqAt(engine.sql, engine.head, at - 1)
}

function rotate({ engine, context }: Write, id: string, secret: string): void {
  rotateSecret(engine.sql, id, engine.ports.vault.encrypt(secret), context.clock.now() + OVERLAP)
}

/** Forgets the cached webhooks and wakes the delivery job, after a change outside the entity. */
function changed(write: Write): void {
  write.engine.cache.forget('Webhook')
  write.wakeAt(write.context.clock.now())
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid('Webhook', issues)
}

/** The fields that were sent. A secret of null is none. */
function fieldsOf(data: unknown): JsonObject {
  if (!isPlainObject(data)) throw invalid('Webhook', [{ field: '', message: 'the body must be a JSON object' }])
  const { secret, ...fields } = data as JsonObject
  return secret === undefined || secret === null ? fields : { ...fields, secret }
}
