import type { JsonObject } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'

/** An OAuth client. `agent` is the actor that events name. */
export interface Client {
  readonly id: string
  readonly agent: string
  /** Its metadata, in the words of RFC 7591. */
  readonly data: JsonObject
  readonly createdAt: number
  readonly usedAt: number | null
}

/** What a person allowed a client. */
export interface Consent {
  readonly id: string
  readonly client: string
  readonly user: string
  readonly data: JsonObject
  readonly createdAt: number
  readonly usedAt: number | null
}

export function saveClient(sql: Sql, { id, agent, data, createdAt }: Omit<Client, 'usedAt'>): void {
  sql.run(
    `INSERT INTO clients (id, agent, data, created_at)
    VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET data = excluded.data`,
    id,
    agent,
    JSON.stringify(data),
    createdAt,
  )
}

export function clientById(sql: Sql, id: string): Client | undefined {
  return sql.rows('SELECT id, agent, data, created_at, used_at FROM clients WHERE id = ?', id).map(toClient)[0]
}

/** How many clients have registered that no person has consented to. */
export function countUnusedClients(sql: Sql): number {
  return sql.rows('SELECT count(*) FROM clients WHERE used_at IS NULL')[0]![0]
}

/** Forgets clients that registered before a time and that no person ever consented to. */
export function dropUnusedClients(sql: Sql, before: number): void {
  sql.run('DELETE FROM clients WHERE used_at IS NULL AND created_at < ?', before)
}

/** When the oldest client registered that no person has consented to, or null. */
export function oldestUnusedClient(sql: Sql): number | null {
  return sql.rows('SELECT min(created_at) FROM clients WHERE used_at IS NULL')[0]![0]
}

export function saveConsent(sql: Sql, { id, client, user, data, createdAt }: Omit<Consent, 'usedAt'>): void {
  sql.run(
    `INSERT INTO consents (id, client, user, data, created_at)
    VALUES (?, ?, ?, ?, ?)`,
    id,
    client,
    user,
    JSON.stringify(data),
    createdAt,
  )
  sql.run('UPDATE clients SET used_at = ? WHERE id = ?', createdAt, client)
}

export function consentById(sql: Sql, id: string): Consent | undefined {
  return sql.rows(`${SELECT} WHERE id = ?`, id).map(toConsent)[0]
}

/** The consents of a person, or of all people, newest first. */
export function consentsOf(sql: Sql, user: string | null): Consent[] {
  const rows =
    user === null
      ? sql.rows(`${SELECT} ORDER BY created_at DESC LIMIT 1000`)
      : sql.rows(`${SELECT} WHERE user = ? ORDER BY created_at DESC LIMIT 1000`, user)
  return rows.map(toConsent)
}

export function touchConsent(sql: Sql, id: string, at: number): void {
  sql.run('UPDATE consents SET used_at = ? WHERE id = ?', at, id)
}

export function dropConsent(sql: Sql, id: string): void {
  sql.run('DELETE FROM consents WHERE id = ?', id)
}

/** Counts one write of a day and returns how many that makes. */
export function countWrite(sql: Sql, id: string, day: string): number {
  const rows = sql.rows(
    `UPDATE consents
    SET writes = CASE WHEN day = ? THEN writes + 1 ELSE 1 END, day = ?
    WHERE id = ?
    RETURNING writes`,
    day,
    day,
    id,
  )
  return rows[0]?.[0] ?? 0
}

const SELECT = 'SELECT id, client, user, data, created_at, used_at FROM consents'

function toClient([id, agent, data, createdAt, usedAt]: SqlRow): Client {
  return { id, agent, data: JSON.parse(data), createdAt, usedAt }
}

function toConsent([id, client, user, data, createdAt, usedAt]: SqlRow): Consent {
  return { id, client, user, data: JSON.parse(data), createdAt, usedAt }
}
