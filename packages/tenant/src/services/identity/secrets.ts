import type { JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { newId, randomText } from '../../ids.ts'
import type { Seal, Sql } from '../../ports.ts'
import { hasAny } from '../../store/entities.ts'
import { hasTokens, saveToken, type Token, type TokenKind, tokenByHash } from '../../store/tokens.ts'

/** The first letters of each kind of secret. All end with the tenant's slug, as keys do. */
const PREFIX: { readonly [kind in TokenKind]: string } = {
  session: 'tbs_',
  invitation: 'tbi_',
  challenge: 'tbh_',
  request: 'tbq_',
  code: 'tbc_',
  device: 'tbd_',
  access: 'tba_',
  refresh: 'tbr_',
}
const SECRET_LENGTH = 40
const FORM = /^tb[a-z]_[A-Za-z0-9]{40}~[a-z0-9-]{1,63}$/

/** What a token is issued with. */
export interface TokenDraft {
  readonly user?: string | null
  readonly consent?: string | null
  readonly data?: JsonObject
  readonly lastsMs: number
}

/** Issues a secret and keeps its hash. The secret itself is in the answer and nowhere else. */
export function issueToken(engine: Engine, kind: TokenKind, draft: TokenDraft): { secret: string; token: Token } {
  const { random, clock, seal } = engine.ports
  const secret = `${PREFIX[kind]}${randomText(random, SECRET_LENGTH)}~${engine.slug}`
  const createdAt = clock.now()
  const token: Token = {
    id: newId(kind, clock, random),
    kind,
    user: draft.user ?? null,
    consent: draft.consent ?? null,
    data: draft.data ?? {},
    createdAt,
    usedAt: null,
    expiresAt: createdAt + draft.lastsMs,
  }
  saveToken(engine.sql, seal.sha256(secret), token)
  engine.ports.alarm.wakeAt(token.expiresAt)
  return { secret, token }
}

/** The token of a secret, if it is of this kind and has not ended. */
export function tokenOf(engine: Engine, kind: TokenKind, secret: string): Token | null {
  if (!secret.startsWith(PREFIX[kind]) || !FORM.test(secret)) return null
  const token = tokenByHash(engine.sql, engine.ports.seal.sha256(secret))
  return token && token.kind === kind && token.expiresAt > engine.ports.clock.now() ? token : null
}

/** Whether a database knows a session or an access token, ended or not. Needs no open tenant. */
export function knowsToken(sql: Sql, seal: Seal, secret: string): boolean {
  if (!secret.startsWith(PREFIX.session) && !secret.startsWith(PREFIX.access)) return false
  return FORM.test(secret) && hasTokens(sql) && tokenByHash(sql, seal.sha256(secret)) !== undefined
}

/** Whether any person can sign in. Needs no open tenant. */
export function hasPeople(sql: Sql): boolean {
  return hasAny(sql, 'User')
}

/** The tenant that a session names, or null when the text is not a session. */
export function tenantOfSession(secret: string): string | null {
  return secret.startsWith(PREFIX.session) && FORM.test(secret) ? secret.slice(secret.indexOf('~') + 1) : null
}
