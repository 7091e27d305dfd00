import type { Sql } from '../../ports.ts'

/** What is kept of a key in addition to its entity. */
export interface Key {
  readonly id: string
  readonly prefix: string
  readonly hash: Uint8Array
  readonly expiresAt: number | null
}

export function saveKey(sql: Sql, key: Key): void {
  sql.run(
    'INSERT INTO keys (id, prefix, hash, expires_at) VALUES (?, ?, ?, ?)',
    key.id,
    key.prefix,
    key.hash,
    key.expiresAt,
  )
}

export function keyByPrefix(sql: Sql, prefix: string): Key | undefined {
  const row = sql.rows('SELECT id, hash, expires_at FROM keys WHERE prefix = ?', prefix)[0]
  return row && { id: row[0], prefix, hash: row[1], expiresAt: row[2] }
}

/** When the next key expires, or null. */
export function nextExpiry(sql: Sql): number | null {
  return sql.rows('SELECT min(expires_at) FROM keys WHERE expires_at IS NOT NULL')[0]![0]
}

export function dueKeys(sql: Sql, now: number): { id: string }[] {
  return sql.rows('SELECT id FROM keys WHERE expires_at <= ?', now).map(([id]) => ({ id }))
}

/** Takes the key out of those that still have to expire. */
export function settleExpiry(sql: Sql, id: string): void {
  sql.run('UPDATE keys SET expires_at = NULL WHERE id = ?', id)
}

export function touchKey(sql: Sql, id: string, at: number): void {
  sql.run('UPDATE keys SET used_at = ? WHERE id = ?', at, id)
}

export function usedAt(sql: Sql, id: string): number | null {
  return sql.rows('SELECT used_at FROM keys WHERE id = ?', id)[0]?.[0] ?? null
}
