import {
  type Filter,
  invalid,
  isPlainObject,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  parseInstant,
  type Verb,
} from '@tildebase/nouns'
import { storedFilter } from '../authorship/reach.ts'
import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import { covers, demandNoAgent, type Grant } from '../grant/grant.ts'
import { parseScopes, refuseMore, type Scope, scopesText } from '../grant/scopes.ts'
import { randomText } from '../ids.ts'
import type { Seal, Sql } from '../ports.ts'
import { asksWords } from '../query/words/text.ts'
import { currentOf } from '../store/entities.ts'
import { dueKeys, keyByPrefix, nextExpiry, saveKey, settleExpiry, touchKey, usedAt } from '../store/people/keys.ts'
import type { Transactor } from '../write/group-commit.ts'
import { applyVerb } from '../write/verb.ts'
import type { RunResult, VerbRequest, VerbResult } from '../write/verb-request.ts'
import type { SpecialVerb, Write } from '../write/write.ts'
import { madeBy, suspend } from './made-by.ts'

const SECRET_LENGTH = 40
const PREFIX_LENGTH = 8
const USED_EVERY = 60_000

/** The end of a key's time: a verb of the service's own, which no client can name. */
const EXPIRE: Verb = { name: 'expire', before: 'expiring', event: 'expired', set: { status: 'Expired' } }

/** What the rights of a key depend on. */
const DEPENDS_ON = ['ApiKey', 'Schema']

/** A key, or an access token of an agent. Other secrets of a tenant do not authenticate requests. */
const SECRET_FORM = /^tba?_[A-Za-z0-9]{40}~([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

/** A key that is valid: what it grants, and until when. */
interface ValidKey {
  readonly grant: Grant
  readonly expiresAt: number | null
}

/** The tenant that a key secret names, or null when it has not the form of one. */
export function tenantOfSecret(secret: string): string | null {
  return SECRET_FORM.exec(secret)?.[1] ?? null
}

/** The key of a secret, valid or not any more; null when there never was one. Needs no open tenant. */
export function keyIdOf(sql: Sql, seal: Seal, secret: string): string | null {
  const key = keyByPrefix(sql, secret.slice(0, PREFIX_LENGTH))
  // The same work for a prefix that is not known.
  const hash = seal.sha256(secret)
  return seal.equal(key?.hash ?? NO_HASH, hash) && key ? key.id : null
}

const NO_HASH = new Uint8Array(32)

/** The verbs of ApiKey. A caller cannot create, change or end a key that can do more than its own. */
export const keyVerbs: { readonly [name: string]: SpecialVerb } = {
  'ApiKey.create': createKey,
  'ApiKey.update': updateKey,
  'ApiKey.delete': deleteKey,
  'ApiKey.revoke': revokeKey,
}

/** The keys of a tenant: whom a secret identifies, and when each was last used. */
export class Keys {
  readonly #transactor: Transactor
  /** When keys were used since that was last written down, and since when. */
  readonly #used = new Map<string, number>()
  #usedSince = 0

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  /** The grant of a secret, or null when it opens nothing: unknown, revoked, expired or deleted. */
  grantOf(secret: string): Grant | null {
    const { engine } = this.#transactor
    // By the secret itself: no other cached answer has a name of this form.
    const key = engine.cache.get(DEPENDS_ON, secret, () => readKey(engine, secret))
    const now = engine.ports.clock.now()
    if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now)) return null
    if (this.#used.size === 0) this.#usedSince = now
    this.#used.set(key.grant.actor, now)
    return key.grant
  }

  /** What a grant is by now, for long requests: null once its key is revoked, expired or deleted. */
  renew(grant: Grant): Grant | null {
    if (!grant.actor.startsWith('apiKey_')) return grant
    const { engine } = this.#transactor
    const key = engine.cache.get(DEPENDS_ON, `key ${grant.actor}`, () => validKey(engine, grant.actor))
    return key === null || (key.expiresAt !== null && key.expiresAt <= engine.ports.clock.now()) ? null : key.grant
  }

  /** When a key was last used, as far as this process or the disk know. */
  lastUsed(id: string): number | null {
    return this.#used.get(id) ?? usedAt(this.#transactor.engine.sql, id)
  }

  /** Sets the keys to Expired whose time has come, and writes down now and then when keys were last used. */
  job(): Job {
    const { engine } = this.#transactor
    return {
      due: () => earlier(nextExpiry(engine.sql), this.#used.size > 0 ? this.#usedSince + USED_EVERY : null),
      run: () => {
        this.#transactor.commitAs('system', (write) => {
          for (const { id } of dueKeys(engine.sql, engine.ports.clock.now())) expire(write, id)
          for (const [id, at] of this.#used) touchKey(engine.sql, id, at)
        })
        this.#used.clear()
      },
    }
  }
}

/** Creates an ApiKey. The secret is in this answer and nowhere else: the tenant keeps its hash. */
function createKey(write: Write, request: VerbRequest): RunResult {
  const { engine, grant } = write
  if (grant.author) throw new Problem('forbidden', 'Stored code cannot create API keys.', { type: 'ApiKey' })
  demandNoAgent(grant, 'create API keys')
  const draft = (request.data ?? {}) as JsonObject
  const scopes = scopesOf(engine, grant, draft)
  const rows = rowsFilter(engine, grant, draft)
  const secret = newSecret(write)
  const result = applyVerb(write, {
    ...request,
    serviceFields: {
      keyPrefix: secret.slice(0, PREFIX_LENGTH),
      status: 'Active',
      scopes: scopesText(scopes),
      ...(rows && { filter: rows }),
    },
  })
  const { expiresAt: at } = JSON.parse(result.entity.data) as { expiresAt?: string }
  const expiresAt = at === undefined ? null : parseInstant(at)
  saveKey(engine.sql, {
    id: result.entity.id,
    prefix: secret.slice(0, PREFIX_LENGTH),
    hash: engine.ports.seal.sha256(secret),
    expiresAt,
  })
  if (expiresAt !== null) write.wakeAt(expiresAt)
  return { ...result, secret }
}

/** Updates an ApiKey: its name and its scopes, nothing else. */
function updateKey(write: Write, request: VerbRequest): VerbResult {
  // What is not an object is refused where it is applied.
  if (!isPlainObject(request.data)) return applyVerb(write, request)
  const patch = request.data as JsonObject
  const fixed = Object.keys(patch).filter((field) => ['expiresAt', 'filter'].includes(field))
  if (fixed.length > 0) {
    throw invalid(
      'ApiKey',
      fixed.map((field) => ({ field, message: 'cannot be changed; only name and scopes can' })),
    )
  }
  demandCovers(write, request.id ?? '')
  const { name, scopes } = patch
  const { fields } = write.engine.noun('ApiKey')
  // They are refused with the others of a strict type.
  const undeclared = Object.entries(patch).filter(([field]) => !Object.hasOwn(fields, field))
  return applyVerb(write, {
    ...request,
    data: {
      ...Object.fromEntries(undeclared),
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes: scopesText(scopesOf(write.engine, write.grant, patch)) }),
    },
  })
}

function deleteKey(write: Write, request: VerbRequest): VerbResult {
  demandCovers(write, request.id ?? '')
  return applyVerb(write, request)
}

function revokeKey(write: Write, request: VerbRequest): VerbResult {
  demandCovers(write, request.id ?? '')
  return withMade(write, applyVerb(write, request), request.cascade)
}

/**
 * The end of a key or a person, with what they made. That continues with the rights that they had, unless `cascade` ends it
 * too.
 */
export function withMade(write: Write, result: VerbResult, cascade = false): VerbResult {
  const made = madeBy(write.engine, result.entity.id)
  if (cascade) {
    suspend(write, result.entity.id, made)
    for (const id of made.apiKeys) revokeKey(write, { type: 'ApiKey', verb: 'revoke', id, cascade })
  }
  return { ...result, entity: { ...result.entity, extra: { made: { ...made } } } }
}

/** Refuses to touch a key that can do more than the one that asks. A key that is ended already can do nothing. */
function demandCovers({ engine, grant }: Write, id: string): void {
  const target = validKey(engine, id)
  if (target === null || covers(grant, target.grant, (area) => engine.nouns.get(area)?.domain ?? null)) return
  throw new Problem('forbidden', 'This key cannot change a key with more rights than its own.', { type: 'ApiKey', id })
}

function expire(write: Write, id: string): void {
  settleExpiry(write.sql, id)
  const current = currentOf(write.sql, 'ApiKey', id)
  if (!current || current.deleted || JSON.parse(current.data).status !== 'Active') return
  applyVerb(write, { type: 'ApiKey', verb: 'expire', id, internalVerb: EXPIRE })
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** Undefined for an unknown secret. Those are not cached, so that guesses do not evict valid keys. */
function readKey(engine: Engine, secret: string): ValidKey | undefined {
  const id = keyIdOf(engine.sql, engine.ports.seal, secret)
  return id === null ? undefined : (validKey(engine, id) ?? undefined)
}

/** A key by its id, or null when it is revoked, expired or deleted. */
function validKey(engine: Engine, id: string): ValidKey | null {
  const current = currentOf(engine.sql, 'ApiKey', id)
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as { status: string; scopes?: string; expiresAt?: string; filter?: JsonObject }
  if (data.status !== 'Active') return null
  const { scopes } = parseScopes(data.scopes ?? '', (area) => areaOf(engine, area))
  const grant: Grant = { actor: id, scopes, rows: data.filter ?? {} }
  return { grant, expiresAt: data.expiresAt ? parseInstant(data.expiresAt) : null }
}

/** What a key may do now, by its id; null when it is revoked, expired or deleted. */
export function keyGrant(engine: Engine, id: string): Grant | null {
  const key = validKey(engine, id)
  return key === null || (key.expiresAt !== null && key.expiresAt <= engine.ports.clock.now()) ? null : key.grant
}

/** The scopes that a draft asks for, if its author holds them. */
export function scopesOf(engine: Engine, grant: Grant, draft: JsonObject, type = 'ApiKey'): readonly Scope[] {
  if (draft.scopes === undefined || draft.scopes === null) return grant.scopes
  if (typeof draft.scopes !== 'string') {
    throw invalid(type, [{ field: 'scopes', message: 'must be comma-separated scopes, such as read:crm,write:Deal' }])
  }
  const { scopes, issues } = parseScopes(draft.scopes, (area) => areaOf(engine, area))
  if (issues.length > 0) throw invalid(type, issues)
  refuseMore(grant.scopes, scopes, (area) => engine.nouns.get(area)?.domain ?? null)
  return scopes
}

/**
 * The rows that a draft asks for. What a narrowed key gives out is narrowed at least as much, and no filter reads what its
 * author may not read.
 */
export function rowsFilter(
  engine: Engine,
  grant: Grant,
  draft: JsonObject,
  type = 'ApiKey',
  check: (filter: Json, noun: Noun) => Json = (filter) => filter,
): JsonObject | null {
  const given = draft.filter ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw invalid(type, [{ field: 'filter', message: 'must be an object of type names to filters' }])
  }
  const rows: Record<string, Json> = { ...(grant.rows as JsonObject) }
  for (const [name, filter] of Object.entries(given as JsonObject)) {
    try {
      const noun = engine.noun(name)
      refuseWords(storedFilter(engine, grant, noun, check(filter, noun)))
      const held = rows[noun.name]
      rows[noun.name] = held === undefined ? filter : { $and: [held, filter] }
    } catch (reason) {
      if (!(reason instanceof Problem) || reason.code === 'forbidden') throw reason
      throw invalid(type, [{ field: `filter.${name}`, message: reason.message }])
    }
  }
  return Object.keys(rows).length > 0 ? rows : null
}

/** Words are looked for in the current state, and a row filter also decides about new and past states. */
function refuseWords(filter: Filter): void {
  if (asksWords(filter)) throw new Problem('invalid_filter', 'A row filter cannot have $text. Use $regex on a field.')
}

/** The area that a scope names, or null. */
export function areaOf(engine: Engine, word: string): string | null {
  const domain = engine.nouns.all.find((noun) => noun.domain === word.toLowerCase())?.domain
  return domain ?? engine.nouns.get(word)?.name ?? null
}

function newSecret({ engine, context }: Write): string {
  for (;;) {
    const secret = `tb_${randomText(context.random, SECRET_LENGTH)}~${engine.slug}`
    if (!keyByPrefix(engine.sql, secret.slice(0, PREFIX_LENGTH))) return secret
  }
}
