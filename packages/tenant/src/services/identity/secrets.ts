import type { JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { newId, randomText } from '../../ids.ts'
import type { Seal, Sql } from '../../ports.ts'
import { hasAny } from '../../store/entities.ts'
import { hasTokens, saveToken, type Token, type TokenKind, tokenByHash } from '../../store/people/tokens.ts'

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
/** Encrypted texts have letters that a URL has no place for. */
const URL_SAFE: { readonly [letter: string]: string } = { ':': '.', '+': '-', '/': '_' }
const FROM_URL_SAFE: { readonly [letter: string]: string } = { '.': ':', '-': '+', _: '/' }
const SEALED = /^tbh_([\w.=-]{1,8000})~[a-z0-9-]{1,63}$/
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

/** A secret that carries its data, encrypted. Nothing is stored for it before it is used. */
export function sealedSecret({ ports, slug }: Engine, data: JsonObject, lastsMs: number): string {
  const text = JSON.stringify({ kind: 'challenge', data, expiresAt: ports.clock.now() + lastsMs })
  const sealed = ports.vault.encrypt(text).replace(/[:+/]/g, (letter) => URL_SAFE[letter]!)
  return `${PREFIX.challenge}${sealed}~${slug}`
}

/** The data of a sealed secret that has not ended. It can be used once: null the second time. */
export function spendSealed(engine: Engine, secret: string): JsonObject | null {
  const { vault, clock, random, seal } = engine.ports
  const sealed = SEALED.exec(secret)?.[1]?.replace(/[.\-_]/g, (letter) => FROM_URL_SAFE[letter]!)
  const text = sealed === undefined ? null : vault.decrypt(sealed)
  if (text === null) return null
  const { kind, data, expiresAt } = JSON.parse(text)
  // The same bytes can be written as several texts.
  const hash = seal.sha256(text)
  const now = clock.now()
  if (kind !== 'challenge' || expiresAt <= now || tokenByHash(engine.sql, hash)) return null
  const spent = { user: null, consent: null, data: {}, createdAt: now, usedAt: now, expiresAt }
  saveToken(engine.sql, hash, { ...spent, id: newId('challenge', clock, random), kind: 'challenge' })
  engine.ports.alarm.wakeAt(expiresAt)
  return data
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
