import type { Sql, SqlRow } from '../../ports.ts'

/** Subscriptions of agents to events. The secret and the position of each are in `receivers`, its deliveries in `outbox`. */
export const EVENT_SUBSCRIPTIONS = [
  `CREATE TABLE event_subscriptions (
    id TEXT PRIMARY KEY,
    actor TEXT NOT NULL,
    consent TEXT,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
]

/** A subscription of an agent to events of one name. */
export interface EventSubscription {
  readonly id: string
  /** The key or the agent that made it, and the consent of an agent: it has their rights, and ends with them. */
  readonly actor: string
  readonly consent: string | null
  /** `Contact.created`. */
  readonly name: string
  /** What narrows it, as JSON text. */
  readonly arguments: string
  readonly url: string
  readonly createdAt: number
  readonly expiresAt: number
  /** True once its end is being sent: no event follows. */
  readonly isEnded: boolean
}

const COLUMNS = 'id, actor, consent, name, arguments, url, created_at, expires_at, ended'

export function eventSubscriptions(sql: Sql): EventSubscription[] {
  return sql.rows(`SELECT ${COLUMNS} FROM event_subscriptions ORDER BY created_at, id`).map(toSubscription)
}

/** Adds a subscription, or renews the one of this id. */
export function saveEventSubscription(sql: Sql, subscription: Omit<EventSubscription, 'isEnded'>): void {
  const { id, actor, consent, name, arguments: given, url, createdAt, expiresAt } = subscription
  sql.run(
    `INSERT INTO event_subscriptions (id, actor, consent, name, arguments, url, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
    id,
    actor,
    consent,
    name,
    given,
    url,
    createdAt,
    expiresAt,
  )
}

/** Narrows a subscription in other words. Its id stays: it belongs to the words of the request. */
export function changeArguments(sql: Sql, id: string, text: string): void {
  sql.run('UPDATE event_subscriptions SET arguments = ? WHERE id = ?', text, id)
}

export function endEventSubscription(sql: Sql, id: string): void {
  sql.run('UPDATE event_subscriptions SET ended = 1 WHERE id = ?', id)
}

/** Forgets a subscription with its secret and its deliveries. */
export function dropEventSubscription(sql: Sql, id: string): void {
  sql.run('DELETE FROM event_subscriptions WHERE id = ?', id)
  sql.run('DELETE FROM receivers WHERE id = ?', id)
  sql.run('DELETE FROM outbox WHERE webhook = ?', id)
}

function toSubscription(row: SqlRow): EventSubscription {
  const [id, actor, consent, name, given, url, createdAt, expiresAt, ended] = row
  return { id, actor, consent, name, arguments: given, url, createdAt, expiresAt, isEnded: ended === 1 }
}
