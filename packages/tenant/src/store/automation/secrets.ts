import type { Sql } from '../../ports.ts'

/** A secret of a tenant, without its value. */
export interface SecretRow {
  readonly name: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly updatedBy: string
}

/** Keeps a secret, encrypted. True when there was none of that name. */
export function saveSecret(sql: Sql, name: string, sealed: string, at: number, by: string): boolean {
  const isNew = sealedSecretOf(sql, name) === null
  sql.run(
    `INSERT INTO secrets (name, value, created_at, updated_at, updated_by) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE
    SET value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    name,
    sealed,
    at,
    at,
    by,
  )
  return isNew
}

export function sealedSecretOf(sql: Sql, name: string): string | null {
  return sql.rows('SELECT value FROM secrets WHERE name = ?', name)[0]?.[0] ?? null
}

export function secretRows(sql: Sql): SecretRow[] {
  return sql
    .rows('SELECT name, created_at, updated_at, updated_by FROM secrets ORDER BY name')
    .map(([name, createdAt, updatedAt, updatedBy]) => ({ name, createdAt, updatedAt, updatedBy }))
}

export function dropSecret(sql: Sql, name: string): void {
  sql.run('DELETE FROM secrets WHERE name = ?', name)
}
