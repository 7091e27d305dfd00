import type { Sql } from '../../ports.ts'

/** An e-mail that is to be sent. */
export interface MailRow {
  readonly id: string
  /** A letter of the service, encrypted; null for the Message of this id. */
  readonly content: string | null
  readonly failures: number
  readonly due: number
}

export function queueMail(sql: Sql, { id, content, failures, due }: MailRow): void {
  sql.run('INSERT OR REPLACE INTO mails (id, content, failures, due) VALUES (?, ?, ?, ?)', id, content, failures, due)
}

export function dropMail(sql: Sql, id: string): void {
  sql.run('DELETE FROM mails WHERE id = ?', id)
}

/** What is due, without what is in progress. */
export function dueMails(sql: Sql, now: number, except: Iterable<string>, limit: number): MailRow[] {
  return sql
    .rows(
      `SELECT id, content, failures, due
      FROM mails
      WHERE due <= ? AND id NOT IN (SELECT value FROM json_each(?))
      ORDER BY due
      LIMIT +?`,
      now,
      JSON.stringify([...except]),
      limit,
    )
    .map(([id, content, failures, due]) => ({ id, content, failures, due }))
}

/** When the next one is due, without those in progress, or null. */
export function nextMail(sql: Sql, except: Iterable<string>): number | null {
  const row = sql.rows(
    'SELECT due FROM mails WHERE id NOT IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT 1',
    JSON.stringify([...except]),
  )[0]
  return row?.[0] ?? null
}

/** Counts a message to an address. Returns how many there were in this hour, this one included. */
export function countMail(sql: Sql, address: string, hour: number): number {
  sql.run('DELETE FROM mail_counts WHERE hour < ?', hour)
  return sql.rows(
    `INSERT INTO mail_counts (address, hour, count) VALUES (?, ?, 1)
    ON CONFLICT (address, hour) DO UPDATE SET count = count + 1
    RETURNING count`,
    address,
    hour,
  )[0]![0]
}
