import { isPlainObject, type Json, type JsonObject, type Noun, orderedJson, Problem } from '@tildebase/nouns'
import { storedFilter } from '../../authorship/reach.ts'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { hexOf } from '../../store/non-log-tables.ts'
import { isStandardSecret } from '../webhooks/signature.ts'
import { eventNamed } from './types.ts'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const DEFAULT_TTL = DAY
const SHORTEST_TTL = SECOND
const LONGEST_TTL = 30 * DAY
const LONGEST_URL = 2_048
const LONGEST_ARGUMENTS = 10_000

/** Which subscription a request is about: it is known by its caller, where it delivers, and what it listens for. */
export interface SubscriptionKey {
  readonly id: string
  readonly actor: string
  readonly consent: string | null
  readonly noun: Noun
  readonly name: string
  readonly arguments: string
  readonly url: string
}

/** A request to subscribe, checked. */
export interface SubscribeRequest extends SubscriptionKey {
  readonly secret: string
  readonly ttlMs: number
  readonly cursor: string | null
  readonly maxAgeMs: number | null
}

/** Reads `events/subscribe`: what is wrong with it, what the grant may not, or the request. */
export function subscribeRequest(engine: Engine, grant: Grant, params: unknown): SubscribeRequest {
  const given = objectIn(params, 'params')
  const delivery = objectIn(given.delivery, 'delivery')
  if (delivery.mode !== 'webhook')
    throw new Problem('not_supported', 'delivery.mode must be webhook.', {
      feature: 'deliveryMode',
      value: String(delivery.mode).slice(0, 100),
    })
  const key = subscriptionKey(engine, grant, given)
  demand(grant, 'read', key.noun)
  const { filter } = JSON.parse(key.arguments) as JsonObject
  if (filter !== undefined && filter !== null) storedFilter(engine, grant, key.noun, filter)
  const refused = engine.ports.outbound?.refuses?.(key.url)
  if (refused) throw new Problem('invalid_parameter', `delivery.url: ${refused}`, { field: 'delivery.url' })
  if (!isStandardSecret(delivery.secret))
    throw wrong('delivery.secret', 'must be whsec_ and the base64 of 24 to 64 random bytes')
  return {
    ...key,
    secret: delivery.secret,
    ttlMs: ttlOf(given.ttlMs),
    cursor: cursorOf(given.cursor),
    maxAgeMs: ageOf(given.maxAgeMs),
  }
}

/** The subscription that `events/unsubscribe` names, of this caller. */
export function subscriptionKey(engine: Engine, grant: Grant, params: unknown): SubscriptionKey {
  const given = objectIn(params, 'params')
  if (typeof given.name !== 'string') throw wrong('name', 'must be the name of an event type')
  const named = eventNamed(engine, given.name)
  if (named === null)
    throw new Problem('not_found', `There is no event type ${given.name.slice(0, 100)}.`, { kind: 'event' })
  const { actor, consent } = holderOf(grant)
  const text = argumentsOf(given.arguments)
  const url = urlOf(objectIn(given.delivery, 'delivery').url)
  const digest = engine.ports.seal.sha256(JSON.stringify([actor, consent, url, named.name, text]))
  return { id: `sub_${hexOf(digest).slice(0, 32)}`, actor, consent, ...named, arguments: text, url }
}

/** The key or the token that a subscription belongs to. */
function holderOf({ actor, credential, narrowedTo }: Grant): Pick<SubscriptionKey, 'actor' | 'consent'> {
  // A subscription belongs to the consent, which allows more.
  if (narrowedTo) throw new Problem('forbidden', 'A token with a narrower scope cannot subscribe to events.')
  if (actor.startsWith('agent_') && credential !== undefined) return { actor, consent: credential }
  if (actor.startsWith('apiKey_') || actor === 'operator') return { actor, consent: null }
  throw new Problem('forbidden', 'Only an API key or the token of an agent subscribes to events.')
}

/** The arguments as text, whatever the order of their keys. */
function argumentsOf(given: unknown): string {
  const { filter, ...others } = given === undefined || given === null ? {} : objectIn(given, 'arguments')
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw wrong(`arguments.${unknown.slice(0, 60)}`, 'is not known; use filter')
  if (filter !== undefined && filter !== null && !isPlainObject(filter))
    throw wrong('arguments.filter', 'must be an object')
  const text = orderedJson(filter === undefined || filter === null ? {} : { filter: filter as Json })
  if (text.length > LONGEST_ARGUMENTS)
    throw wrong('arguments', `may have at most ${LONGEST_ARGUMENTS} characters as JSON`)
  return text
}

function urlOf(given: unknown): string {
  const url = typeof given === 'string' && given.length <= LONGEST_URL && URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol)) throw wrong('delivery.url', 'must be an https URL')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw wrong('delivery.url', 'must not contain a user, a password or a fragment')
  return url.href
}

/** How long a subscription lasts: what the client suggests, within bounds. There is none without an end. */
function ttlOf(given: unknown): number {
  if (given === undefined) return DEFAULT_TTL
  if (given === null) return LONGEST_TTL
  if (typeof given !== 'number' || !Number.isInteger(given) || given <= 0)
    throw wrong('ttlMs', 'must be a whole number of milliseconds above 0, or null')
  return Math.min(Math.max(given, SHORTEST_TTL), LONGEST_TTL)
}

function cursorOf(given: unknown): string | null {
  if (given === undefined || given === null) return null
  if (typeof given === 'string') return given
  throw wrong('cursor', 'must be a string or null')
}

function ageOf(given: unknown): number | null {
  if (given === undefined || given === null) return null
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return given
  throw wrong('maxAgeMs', 'must be a whole number of milliseconds')
}

function objectIn(value: unknown, field: string): { readonly [name: string]: unknown } {
  if (isPlainObject(value)) return value
  throw wrong(field, 'must be an object')
}

function wrong(field: string, message: string): Problem {
  return new Problem('invalid_parameter', `${field} ${message}.`, { field })
}
