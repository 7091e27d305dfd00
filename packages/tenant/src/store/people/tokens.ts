import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'

/** What a secret that was handed out is for. */
export type TokenKind = 'session' | 'invitation' | 'challenge' | 'request' | 'code' | 'device' | 'access' | 'refresh'

/** The record of a secret that was handed out. The secret itself is not stored. */
export interface Token {
  readonly id: string
  readonly kind: TokenKind
  /** The person that it belongs to, if it is known. */
  readonly user: string | null
  /** The consent of a person to a client that it belongs to. */
  readonly consent: string | null
  readonly data: JsonObject
  readonly createdAt: number
  readonly usedAt: number | null
  readonly expiresAt: number
}

export function saveToken(sql: Sql, hash: Uint8Array, token: Omit<Token, 'usedAt'>): void {
  sql.run(
    `INSERT INTO tokens (hash, id, kind, user, consent, data, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    hash,
    token.id,
    token.kind,
    token.user,
    token.consent,
    JSON.stringify(token.data),
    token.createdAt,
    token.expiresAt,
  )
}

/** Whether the database has tokens at all: one of an older layout that was not opened since has none. */
export function hasTokens(sql: Sql): boolean {
  return sql.rows(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tokens'`).length > 0
}

export function tokenByHash(sql: Sql, hash: Uint8Array): Token | undefined {
  return sql.rows(`${SELECT} WHERE hash = ?`, hash).map(toToken)[0]
}

export function tokenById(sql: Sql, id: string): Token | undefined {
  return sql.rows(`${SELECT} WHERE id = ?`, id).map(toToken)[0]
}

/** The tokens of a person of one kind, newest first. */
export function tokensOf(sql: Sql, user: string, kind: TokenKind): Token[] {
  return sql.rows(`${SELECT} WHERE user = ? AND kind = ? ORDER BY created_at DESC`, user, kind).map(toToken)
}

/** Marks a token as used. */
export function useToken(sql: Sql, id: string, at: number): void {
  sql.run('UPDATE tokens SET used_at = ? WHERE id = ?', at, id)
}

/** Changes what is known about a token: a device code that a person approved. */
export function changeToken(
  sql: Sql,
  { id, user, consent, data }: Pick<Token, 'id' | 'user' | 'consent' | 'data'>,
): void {
  sql.run('UPDATE tokens SET user = ?, consent = ?, data = ? WHERE id = ?', user, consent, JSON.stringify(data), id)
}

/** Lets a token live on until a time. */
export function extendToken(sql: Sql, id: string, usedAt: number, expiresAt: number): void {
  sql.run('UPDATE tokens SET used_at = ?, expires_at = ? WHERE id = ?', usedAt, expiresAt, id)
}

export function dropToken(sql: Sql, id: string): void {
  sql.run('DELETE FROM tokens WHERE id = ?', id)
}

export function dropTokensOf(sql: Sql, user: string, kind: TokenKind): void {
  sql.run('DELETE FROM tokens WHERE user = ? AND kind = ?', user, kind)
}

export function dropTokensOfConsent(sql: Sql, consent: string): void {
  sql.run('DELETE FROM tokens WHERE consent = ?', consent)
}

/** Forgets all tokens of a consent but the newest. */
export function trimTokensOfConsent(sql: Sql, consent: string, most: number): void {
  sql.run(
    `DELETE FROM tokens
    WHERE consent = ? AND id NOT IN (SELECT id FROM tokens WHERE consent = ? ORDER BY created_at DESC, id DESC LIMIT +?)`,
    consent,
    consent,
    most,
  )
}

/** The tokens of one kind that no person has claimed yet. */
export function unclaimedTokens(sql: Sql, kind: TokenKind): Token[] {
  return sql.rows(`${SELECT} WHERE user IS NULL AND kind = ?`, kind).map(toToken)
}

/** When the next token ends, or null. */
export function nextTokenEnd(sql: Sql): number | null {
  return sql.rows('SELECT min(expires_at) FROM tokens')[0]![0]
}

export function dropEndedTokens(sql: Sql, now: number): void {
  sql.run('DELETE FROM tokens WHERE expires_at <= ?', now)
}

const SELECT = 'SELECT id, kind, user, consent, data, created_at, used_at, expires_at FROM tokens'

function toToken([id, kind, user, consent, data, createdAt, usedAt, expiresAt]: SqlRow): Token {
  return { id, kind, user, consent, data: JSON.parse(data), createdAt, usedAt, expiresAt }
}
