import { invalid, type JsonObject, Problem, parseInstant, type Verb } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import type { Grant } from '../grant/grant.ts'
import { parseScopes, refuseMore, type Scope, scopesText } from '../grant/scopes.ts'
import { randomText } from '../ids.ts'
import { filterOf } from '../query/filter.ts'
import { currentOf } from '../store/entities.ts'
import { dueKeys, keyByPrefix, nextExpiry, saveKey, settleExpiry, touchKey, usedAt } from '../store/keys.ts'
import { applyVerb, type VerbRequest, type VerbResult } from '../write/verb.ts'

const SECRET_LENGTH = 40
const PREFIX_LENGTH = 8
const USED_EVERY = 60_000

/** The end of a key's time: a verb of the service's own, which no client can name. */
const EXPIRE: Verb = { name: 'expire', before: 'expiring', event: 'expired', set: { status: 'Expired' } }
/** What the standing of a key depends on. */
const STANDING = ['ApiKey', 'Schema']
const SECRET_FORM = /^tb_[A-Za-z0-9]{40}~([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

/** A key that opens something: what, and until when. */
interface Standing {
  readonly grant: Grant
  readonly expiresAt: number | null
}

/** The tenant that a key secret names, or null when it has not the form of one. */
export function tenantOfSecret(secret: string): string | null {
  return SECRET_FORM.exec(secret)?.[1] ?? null
}

/** Creates an ApiKey. The secret is in this answer and nowhere else: the tenant keeps its hash. */
export function createKey(tenant: Engine, grant: Grant, ask: VerbRequest): VerbResult & { secret: string } {
  const draft = (ask.data ?? {}) as JsonObject
  const scopes = scopesOf(tenant, grant, draft)
  const rows = rowsFilter(tenant, grant, draft)
  const secret = newSecret(tenant)
  const done = applyVerb(tenant, {
    ...ask,
    serviceFields: {
      keyPrefix: secret.slice(0, PREFIX_LENGTH),
      status: 'Active',
      scopes: scopesText(scopes),
      ...(rows && { filter: rows }),
    },
  })
  const { expiresAt: at } = JSON.parse(done.entity.data) as { expiresAt?: string }
  const expiresAt = at === undefined ? null : parseInstant(at)
  saveKey(tenant.sql, {
    id: done.entity.id,
    prefix: secret.slice(0, PREFIX_LENGTH),
    hash: tenant.ports.seal.sha256(secret),
    expiresAt,
  })
  if (expiresAt !== null) tenant.ports.alarm.wakeAt(expiresAt)
  return { ...done, secret }
}

/** Updates an ApiKey: its name and its scopes, nothing else. */
export function updateKey(tenant: Engine, grant: Grant, ask: VerbRequest): VerbResult {
  const patch = (ask.data ?? {}) as JsonObject
  const fixed = Object.keys(patch).filter((field) => ['expiresAt', 'filter'].includes(field))
  if (fixed.length > 0) {
    throw invalid(
      'ApiKey',
      fixed.map((field) => ({ field, message: 'cannot be changed; only name and scopes can' })),
    )
  }
  const { name, scopes } = patch
  return applyVerb(tenant, {
    ...ask,
    data: {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes: scopesText(scopesOf(tenant, grant, patch)) }),
    },
  })
}

/** The grant of a secret, or null when it opens nothing: unknown, revoked, expired or deleted. */
export function grantOf(tenant: Engine, secret: string): Grant | null {
  // By the secret as it is: no other answer that is kept has a name of this form.
  const key = tenant.cache.get(STANDING, secret, () => readKey(tenant, secret))
  const now = tenant.ports.clock.now()
  if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now)) return null
  if (tenant.used.size === 0) tenant.usedSince = now
  tenant.used.set(key.grant.actor, now)
  return key.grant
}

/** What a grant is by now, for those who hold one for long: null once its key is revoked, expired or deleted. */
export function renewGrant(tenant: Engine, grant: Grant): Grant | null {
  if (!grant.actor.startsWith('apiKey_')) return grant
  const key = tenant.cache.get(STANDING, `standing ${grant.actor}`, () => standingOf(tenant, grant.actor))
  return key === null || (key.expiresAt !== null && key.expiresAt <= tenant.ports.clock.now()) ? null : key.grant
}

/** Sets the keys to Expired whose time has come, and writes down now and then when keys were last used. */
export function keyJob(tenant: Engine): Job {
  return {
    due: () => earlier(nextExpiry(tenant.sql), tenant.used.size > 0 ? tenant.usedSince + USED_EVERY : null),
    run: () => {
      tenant.transaction(() => {
        for (const { id } of dueKeys(tenant.sql, tenant.ports.clock.now())) expire(tenant, id)
        for (const [id, at] of tenant.used) touchKey(tenant.sql, id, at)
      })
      tenant.used.clear()
    },
  }
}

/** When a key was last used, as far as this process or the disk know. */
export function lastUsed(tenant: Engine, id: string): number | null {
  return tenant.used.get(id) ?? usedAt(tenant.sql, id)
}

function expire(tenant: Engine, id: string): void {
  settleExpiry(tenant.sql, id)
  const current = currentOf(tenant.sql, 'ApiKey', id)
  if (!current || current.deleted || JSON.parse(current.data).status !== 'Active') return
  applyVerb(tenant, { type: 'ApiKey', verb: 'expire', id, actor: 'system', internalVerb: EXPIRE })
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** Undefined when it opens nothing: that is not kept, so that guesses do not drive out what is true. */
function readKey(tenant: Engine, secret: string): Standing | undefined {
  const key = keyByPrefix(tenant.sql, secret.slice(0, PREFIX_LENGTH))
  if (!key || !tenant.ports.seal.equal(key.hash, tenant.ports.seal.sha256(secret))) return undefined
  return standingOf(tenant, key.id) ?? undefined
}

function standingOf(tenant: Engine, id: string): Standing | null {
  const current = currentOf(tenant.sql, 'ApiKey', id)
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as { status: string; scopes?: string; expiresAt?: string; filter?: JsonObject }
  if (data.status !== 'Active') return null
  const { scopes } = parseScopes(data.scopes ?? '', (area) => areaOf(tenant, area))
  const grant: Grant = { actor: id, scopes, rows: data.filter ?? {} }
  return { grant, expiresAt: data.expiresAt ? parseInstant(data.expiresAt) : null }
}

function scopesOf(tenant: Engine, grant: Grant, draft: JsonObject): readonly Scope[] {
  if (draft.scopes === undefined || draft.scopes === null) return grant.scopes
  if (typeof draft.scopes !== 'string') {
    throw invalid('ApiKey', [
      { field: 'scopes', message: 'must be a text of comma-separated scopes, such as read:crm,write:Deal' },
    ])
  }
  const { scopes, issues } = parseScopes(draft.scopes, (area) => areaOf(tenant, area))
  if (issues.length > 0) throw invalid('ApiKey', issues)
  refuseMore(grant.scopes, scopes, (area) => tenant.nouns.get(area)?.domain ?? null)
  return scopes
}

/** A key made by a narrowed key is narrowed at least as much. */
function rowsFilter(tenant: Engine, grant: Grant, draft: JsonObject): JsonObject | null {
  const given = draft.filter ?? {}
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw invalid('ApiKey', [{ field: 'filter', message: 'must be an object of type names to filters' }])
  }
  const rows: Record<string, any> = { ...(grant.rows as JsonObject) }
  for (const [type, filter] of Object.entries(given as JsonObject)) {
    try {
      const noun = tenant.noun(type)
      filterOf(tenant, noun, filter)
      rows[noun.name] = rows[noun.name] === undefined ? filter : { $and: [rows[noun.name], filter] }
    } catch (reason) {
      if (!(reason instanceof Problem)) throw reason
      throw invalid('ApiKey', [{ field: `filter.${type}`, message: reason.message }])
    }
  }
  return Object.keys(rows).length > 0 ? rows : null
}

function areaOf(tenant: Engine, word: string): string | null {
  const domain = tenant.nouns.all.find((noun) => noun.domain === word.toLowerCase())?.domain
  return domain ?? tenant.nouns.get(word)?.name ?? null
}

function newSecret(tenant: Engine): string {
  for (;;) {
    const secret = `tb_${randomText(tenant.ports.random, SECRET_LENGTH)}~${tenant.slug}`
    if (!keyByPrefix(tenant.sql, secret.slice(0, PREFIX_LENGTH))) return secret
  }
}
