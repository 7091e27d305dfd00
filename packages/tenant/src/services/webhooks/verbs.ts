import {
  type Issue,
  invalid,
  isPattern,
  isPlainObject,
  type Json,
  type JsonObject,
  Problem,
  resolveInstant,
  type Verb,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { seqAt } from '../../store/log.ts'
import { dropPending } from '../../store/outbox.ts'
import { addReceiver, rotateSecret, setPosition, setSees } from '../../store/receivers.ts'
import { applyVerb, type VerbRequest, type VerbResult } from '../../write/verb.ts'
import { newSecret, secretFault } from './signature.ts'
import { recordFilter } from './subscription.ts'

const MOST_PATTERNS = 100
const LONGEST_URL = 2_048
const OVERLAP = 86_400_000

/** A new secret: a verb of the service's own, whose event tells that it happened and nothing more. */
const ROTATE: Verb = { name: 'rotate', before: 'rotating', event: 'rotated' }

type Named = VerbResult & { readonly secret?: string }

/** Creates a webhook. Its secret is in this answer and nowhere else that can be asked. */
export function createWebhook(tenant: Engine, grant: Grant, ask: VerbRequest): Named {
  const { secret: given, ...draft } = fieldsOf(ask.data)
  refuse(checked(tenant, draft, given))
  const secret = (given as string | undefined) ?? newSecret(tenant.ports.random)
  const done = applyVerb(tenant, { ...ask, data: draft })
  addReceiver(tenant.sql, {
    id: done.entity.id,
    secret,
    sees: seesOf(grant),
    position: draft.from === undefined || draft.from === null ? null : positionOf(tenant, draft.from),
  })
  changed(tenant)
  return { ...done, secret }
}

/** Updates a webhook. A new `secret` replaces the one before as a rotation does; a new `from` sends history again. */
export function updateWebhook(tenant: Engine, grant: Grant, ask: VerbRequest): VerbResult {
  const { secret, ...patch } = fieldsOf(ask.data)
  refuse(checked(tenant, patch, secret))
  const done = applyVerb(tenant, { ...ask, data: patch })
  const { id } = done.entity
  setSees(tenant.sql, id, seesOf(grant))
  if (secret !== undefined) rotate(tenant, grant, id, secret as string)
  if (patch.from !== undefined && patch.from !== null) setPosition(tenant.sql, id, positionOf(tenant, patch.from))
  changed(tenant)
  return done
}

/** Gives a webhook a new secret, once; the one before signs alongside for a day. */
export function rotateWebhook(tenant: Engine, grant: Grant, ask: VerbRequest): Named {
  const given = fieldsOf(ask.data ?? {}).secret
  refuse(given === undefined ? [] : secretIssues(given))
  const secret = (given as string | undefined) ?? newSecret(tenant.ports.random)
  const done = applyVerb(tenant, { ...ask, data: {}, internalVerb: ROTATE })
  rotate(tenant, grant, done.entity.id, secret)
  changed(tenant)
  return { ...done, secret }
}

/** Brings an earlier state of a webhook back; it is told from now on what whoever brought it back may see. */
export function reviveWebhook(tenant: Engine, grant: Grant, ask: VerbRequest): VerbResult {
  const done = applyVerb(tenant, ask)
  setSees(tenant.sql, done.entity.id, seesOf(grant))
  changed(tenant)
  return done
}

/** Deletes a webhook, with what it still had to be sent. */
export function deleteWebhook(tenant: Engine, _: Grant, ask: VerbRequest): VerbResult {
  const done = applyVerb(tenant, ask)
  dropPending(tenant.sql, done.entity.id)
  return done
}

/** What the act itself cannot know to be wrong with a webhook. */
function checked(tenant: Engine, fields: JsonObject, secret: unknown): Issue[] {
  const { url, events, filter, from } = fields
  return [
    ...(typeof url === 'string' ? urlIssues(url, tenant.options.webhooks?.insecure ?? false) : []),
    ...(Array.isArray(events) ? eventsIssues(events) : []),
    ...(secret === undefined ? [] : secretIssues(secret)),
    ...(filter === undefined || filter === null ? [] : filterIssues(tenant, filter)),
    ...(from === undefined || from === null || fromSeq(tenant, from) !== null ? [] : [FROM_ISSUE]),
  ]
}

function urlIssues(text: string, insecure: boolean): Issue[] {
  const url = URL.canParse(text) ? new URL(text) : null
  const schemes = insecure ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol)) {
    return [{ field: 'url', message: `must be an ${insecure ? 'https or http' : 'https'} address` }]
  }
  if (text.length > LONGEST_URL) return [{ field: 'url', message: `may have ${LONGEST_URL} characters` }]
  if (url.username === '' && url.password === '') return []
  return [{ field: 'url', message: 'must not hold a user name or a password; deliveries are signed instead' }]
}

function eventsIssues(events: readonly Json[]): Issue[] {
  if (events.length === 0)
    return [{ field: 'events', message: 'must name at least one event, such as Contact.created' }]
  if (events.length > MOST_PATTERNS) return [{ field: 'events', message: `may hold ${MOST_PATTERNS} patterns` }]
  const wrong = events.filter((event) => typeof event === 'string' && !isPattern(event))
  return wrong.map((event) => ({
    field: 'events',
    message: `${String(event).slice(0, 80)} is not an event: write *, *.created, Contact.* or Contact.created`,
  }))
}

function secretIssues(secret: unknown): Issue[] {
  const fault = secretFault(secret)
  return fault === null ? [] : [{ field: 'secret', message: fault }]
}

function filterIssues(tenant: Engine, filter: Json): Issue[] {
  try {
    recordFilter(tenant, filter)
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

/** The seq before the first event that a webhook with this `from` is told. */
function positionOf(tenant: Engine, from: Json): number {
  return fromSeq(tenant, from) ?? tenant.head.seq
}

function fromSeq(tenant: Engine, from: Json): number | null {
  if (typeof from === 'number') return Number.isSafeInteger(from) && from >= 0 ? Math.max(from - 1, 0) : null
  const at = typeof from === 'string' ? resolveInstant(from, tenant.now()) : null
  return at === null ? null : seqAt(tenant.sql, tenant.head, at - 1)
}

function rotate(tenant: Engine, grant: Grant, id: string, secret: string): void {
  rotateSecret(tenant.sql, id, secret, tenant.ports.clock.now() + OVERLAP, seesOf(grant))
}

function seesOf({ scopes, rows }: Grant): string {
  return JSON.stringify({ scopes, rows })
}

/** Something beside the entity changed: what is remembered of webhooks is read again, and the queue looked at. */
function changed(tenant: Engine): void {
  tenant.cache.forget('Webhook')
  tenant.ports.alarm.wakeAt(tenant.ports.clock.now())
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
