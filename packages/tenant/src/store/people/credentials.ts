import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'

/** What a person signs in with. */
export interface Credential {
  readonly id: string
  readonly user: string
  readonly kind: 'password' | 'passkey'
  readonly data: JsonObject
  readonly createdAt: number
  readonly usedAt: number | null
}

export function saveCredential(sql: Sql, { id, user, kind, data, createdAt }: Omit<Credential, 'usedAt'>): void {
  sql.run(
    `INSERT OR REPLACE INTO credentials (id, user, kind, data, created_at)
    VALUES (?, ?, ?, ?, ?)`,
    id,
    user,
    kind,
    JSON.stringify(data),
    createdAt,
  )
}

export function credentialById(sql: Sql, id: string): Credential | undefined {
  return sql.rows(`${SELECT} WHERE id = ?`, id).map(toCredential)[0]
}

export function credentialsOf(sql: Sql, user: string): Credential[] {
  return sql.rows(`${SELECT} WHERE user = ? ORDER BY created_at`, user).map(toCredential)
}

/** Notes that a credential was used; a passkey counts its uses. */
export function useCredential(sql: Sql, id: string, data: JsonObject, at: number): void {
  sql.run('UPDATE credentials SET data = ?, used_at = ? WHERE id = ?', JSON.stringify(data), at, id)
}

export function dropCredential(sql: Sql, id: string): void {
  sql.run('DELETE FROM credentials WHERE id = ?', id)
}

export function dropCredentialsOf(sql: Sql, user: string): void {
  sql.run('DELETE FROM credentials WHERE user = ?', user)
}

const SELECT = 'SELECT id, user, kind, data, created_at, used_at FROM credentials'

function toCredential([id, user, kind, data, createdAt, usedAt]: SqlRow): Credential {
  return { id, user, kind, data: JSON.parse(data), createdAt, usedAt }
}
