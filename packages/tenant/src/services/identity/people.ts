import type { JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import type { Grant, GrantLimits } from '../../grant/grant.ts'
import { common, parseScopes, type Scope } from '../../grant/scopes.ts'
import { currentOf } from '../../store/entities.ts'
import {
  clientById,
  consentById,
  dropUnusedClients,
  oldestUnusedClient,
  touchConsent,
} from '../../store/people/consents.ts'
import { dropEndedTokens, extendToken, nextTokenEnd, tokenById } from '../../store/people/tokens.ts'
import { areaOf } from '../keys.ts'
import { rightsOf } from './roles.ts'
import { tokenOf } from './secrets.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A session ends when it was not used for so long, and in any case after so many days. */
export const SESSION_IDLE = 12 * HOUR
const SESSION_MOST = 30 * DAY
const UNUSED_CLIENTS = 7 * DAY

/** What the rights of a person depend on. */
const DEPENDS_ON = ['User', 'AccessRole', 'Schema', 'Identity']

/** A token that opens something, as it was read. */
interface Access {
  readonly grant: Grant
  readonly id: string
  readonly expiresAt: number
}

/** Whom sessions and access tokens identify, and when each was last used. */
export class People {
  readonly #engine: Engine
  /** When sessions and consents were used since that was last written down, and since when. */
  readonly #used = new Map<string, number>()
  #usedSince = 0

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The grant of a session, or null when it has ended or its person is not active. */
  sessionGrant(secret: string): Grant | null {
    return this.#grantOf(secret, () => this.#readSession(secret))
  }

  /** The grant of an access token, or null when it opens nothing. */
  accessGrant(secret: string): Grant | null {
    return this.#grantOf(secret, () => this.#readAccess(secret))
  }

  /** What a grant is by now: null once its session or its consent has ended. */
  renew(grant: Grant): Grant | null {
    const { credential } = grant
    const engine = this.#engine
    if (credential === undefined) return grant
    const known = engine.cache.get(DEPENDS_ON, `credential ${credential}`, () => {
      const token = tokenById(engine.sql, credential)
      if (token?.kind === 'session' && token.user) return { grant: sessionGrant(engine, token.user, credential) }
      return { grant: consentGrant(engine, credential) }
    })
    return known.grant && ofToken(engine, known.grant, grant)
  }

  /** When a session or a consent was last used, as far as this process knows. */
  lastUsed(id: string): number | null {
    return this.#used.get(id) ?? null
  }

  /** Deletes expired tokens and clients without a consent, and stores the times of last use. */
  job(): Job {
    const { sql, ports } = this.#engine
    return {
      light: true,
      due: () => {
        const client = oldestUnusedClient(sql)
        const dues = [
          nextTokenEnd(sql),
          client === null ? null : client + UNUSED_CLIENTS,
          this.#used.size > 0 ? this.#usedSince + MINUTE : null,
        ]
        return dues.reduce((first, due) => (first === null || (due !== null && due < first) ? due : first), null)
      },
      run: () => this.#writeDown(ports.clock.now()),
      flush: () => {
        if (this.#used.size > 0) this.#writeDown(ports.clock.now())
      },
    }
  }

  #writeDown(now: number): void {
    const { sql } = this.#engine
    sql.transaction(() => {
      for (const [id, at] of this.#used) {
        const session = tokenById(sql, id)
        if (session) extendToken(sql, id, at, Math.min(at + SESSION_IDLE, session.createdAt + SESSION_MOST))
        else touchConsent(sql, id, at)
      }
      dropEndedTokens(sql, now)
      dropUnusedClients(sql, now - UNUSED_CLIENTS)
    })
    this.#used.clear()
    this.#engine.cache.forget('Identity')
  }

  #grantOf(secret: string, read: () => Access | undefined): Grant | null {
    const access = this.#engine.cache.get(DEPENDS_ON, secret, read)
    const now = this.#engine.ports.clock.now()
    if (access === undefined) return null
    // Uses of the last minute may not be written down yet.
    const usedAt = this.#used.get(access.id)
    if (access.expiresAt <= now && (usedAt === undefined || usedAt + SESSION_IDLE <= now)) return null
    if (this.#used.size === 0) {
      this.#usedSince = now
      this.#engine.ports.alarm.wakeAt(now + MINUTE)
    }
    this.#used.set(access.grant.credential!, now)
    return access.grant
  }

  #readSession(secret: string): Access | undefined {
    const engine = this.#engine
    const token = tokenOf(engine, 'session', secret)
    const grant = token?.user ? sessionGrant(engine, token.user, token.id) : null
    return token && grant ? { grant, id: token.id, expiresAt: token.expiresAt } : undefined
  }

  #readAccess(secret: string): Access | undefined {
    const engine = this.#engine
    const token = tokenOf(engine, 'access', secret)
    const grant = token?.consent ? consentGrant(engine, token.consent) : null
    if (!token || !grant) return undefined
    const { only, scopes } = token.data as { only?: string; scopes?: string }
    const narrowedTo = scopes === undefined ? undefined : parseScopes(scopes, (area) => areaOf(engine, area)).scopes
    return { grant: ofToken(engine, grant, { only, narrowedTo }), id: token.id, expiresAt: token.expiresAt }
  }
}

function sessionGrant(engine: Engine, user: string, session: string): Grant | null {
  const grant = personGrant(engine, user)
  return grant && { ...grant, credential: session }
}

/** What a person may do, or null when they are not active. */
export function personGrant(engine: Engine, user: string): Grant | null {
  const current = currentOf(engine.sql, 'User', user)
  if (!current || current.deleted) return null
  const { status, role, email } = JSON.parse(current.data) as { status?: string; role?: string; email?: string }
  if (status !== 'Active') return null
  return { actor: user, ...rightsOf(engine, role, { id: user, email: email ?? '' }) }
}

/** What a client may do for a person: what the person allowed it, and never more than the person may do now. */
export function consentGrant(engine: Engine, id: string): Grant | null {
  const consent = consentById(engine.sql, id)
  const person = consent && personGrant(engine, consent.user)
  const client = consent && clientById(engine.sql, consent.client)
  if (!consent || !person || !client) return null
  const {
    scopes: text,
    rows = {},
    limits,
  } = consent.data as unknown as { scopes: string; rows?: JsonObject; limits?: GrantLimits }
  const { scopes } = parseScopes(text, (area) => areaOf(engine, area))
  return {
    actor: client.agent,
    onBehalfOf: consent.user,
    credential: id,
    scopes: commonScopes(engine, scopes, person.scopes),
    rows: bothRows(person.rows, rows),
    ...(limits && { limits }),
  }
}

/** What a consent or a session allows, for one of its tokens. */
function ofToken(
  engine: Engine,
  grant: Grant,
  { only, narrowedTo }: { readonly only?: string | undefined; readonly narrowedTo?: readonly Scope[] | undefined },
): Grant {
  const narrowed = narrowedTo && { narrowedTo, scopes: commonScopes(engine, grant.scopes, narrowedTo) }
  return { ...grant, ...(only !== undefined && { only }), ...narrowed }
}

function commonScopes({ nouns }: Engine, some: readonly Scope[], others: readonly Scope[]): Scope[] {
  return common(some, others, (area) => nouns.get(area)?.domain ?? null)
}

function bothRows(a: Grant['rows'], b: Grant['rows']): Grant['rows'] {
  const rows: Record<string, unknown> = { ...a }
  for (const [type, filter] of Object.entries(b)) rows[type] = type in rows ? { $and: [rows[type], filter] } : filter
  return rows
}
