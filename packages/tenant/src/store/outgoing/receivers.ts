import type { Sql } from '../../ports.ts'

/** What is kept of a webhook in addition to its entity. */
export interface Receiver {
  readonly id: string
  readonly secret: string
  /** The secret before the last rotation, which signs alongside until a time. */
  readonly old: { readonly secret: string; readonly until: number } | null
  /** The scopes and row filters that an earlier version kept, as JSON; empty for what this version stored. */
  readonly sees: string
  /** The seq up to which history has been booked; null once events are booked as they come. */
  readonly position: number | null
}

export function addReceiver(sql: Sql, receiver: Omit<Receiver, 'old' | 'sees'>): void {
  sql.run(
    `INSERT INTO receivers (id, secret, sees, position) VALUES (?, ?, '', ?)`,
    receiver.id,
    receiver.secret,
    receiver.position,
  )
}

export function receivers(sql: Sql): Receiver[] {
  return sql
    .rows('SELECT id, secret, old_secret, old_until, sees, position FROM receivers ORDER BY id')
    .map(([id, secret, old, until, sees, position]) => ({
      id,
      secret,
      old: old === null ? null : { secret: old, until },
      sees,
      position,
    }))
}

/** Replaces the secret; the one before signs alongside until a time. In a copy without secrets it is the first one. */
export function rotateSecret(sql: Sql, id: string, secret: string, until: number): void {
  sql.run(
    `INSERT INTO receivers (id, secret, sees) VALUES (?, ?, '')
    ON CONFLICT (id) DO UPDATE SET old_secret = secret, old_until = ?, secret = excluded.secret`,
    id,
    secret,
    until,
  )
}

export function setPosition(sql: Sql, id: string, position: number | null): void {
  sql.run('UPDATE receivers SET position = ? WHERE id = ?', position, id)
}

/** Secrets that are not encrypted: an encrypted one begins with the version of its form. */
export function plainSecrets(sql: Sql): { id: string; secret: string; old: string | null }[] {
  return sql
    .rows(`SELECT id, secret, old_secret FROM receivers WHERE substr(secret, 1, 3) <> 'v1:'`)
    .map(([id, secret, old]) => ({ id, secret, old }))
}

export function replaceSecrets(sql: Sql, id: string, secret: string, old: string | null): void {
  sql.run('UPDATE receivers SET secret = ?, old_secret = ? WHERE id = ?', secret, old, id)
}
