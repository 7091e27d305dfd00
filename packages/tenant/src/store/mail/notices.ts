import type { Sql, SqlRow } from '../../ports.ts'

/** Something that a person is to know of. */
export interface NoticeRow {
  readonly n: number
  readonly user: string
  readonly kind: string
  readonly type: string
  readonly entity: string
  readonly by: string
  readonly at: number
  readonly readAt: number | null
  /** When it is sent by e-mail; null when it is not, or was. */
  readonly due: number | null
  readonly failures: number
}

const COLUMNS = 'n, user, kind, type, entity, by, at, read_at, due, failures'

export function addNotice(sql: Sql, row: Omit<NoticeRow, 'n' | 'readAt' | 'failures'>): void {
  sql.run(
    'INSERT INTO notices (user, kind, type, entity, by, at, due) VALUES (?, ?, ?, ?, ?, ?, ?)',
    row.user,
    row.kind,
    row.type,
    row.entity,
    row.by,
    row.at,
    row.due,
  )
}

/** The notices of a person before a place, newest first. */
export function noticesOf(sql: Sql, user: string, before: number, limit: number): NoticeRow[] {
  return sql
    .rows(`SELECT ${COLUMNS} FROM notices WHERE user = ? AND n < ? ORDER BY n DESC LIMIT +?`, user, before, limit)
    .map(toRow)
}

export function countUnread(sql: Sql, user: string): number {
  return sql.rows('SELECT count(*) FROM notices WHERE user = ? AND read_at IS NULL', user)[0]![0]
}

/** Notes that a person has read everything until a place. */
export function readNotices(sql: Sql, user: string, until: number, now: number): void {
  sql.run('UPDATE notices SET read_at = ? WHERE user = ? AND n <= ? AND read_at IS NULL', now, user, until)
}

/** Keeps the newest notices of a person. */
export function keepNotices(sql: Sql, user: string, most: number): void {
  sql.run(
    `DELETE FROM notices
    WHERE user = ? AND due IS NULL AND n <= (SELECT n FROM notices WHERE user = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
    user,
    user,
    most,
  )
}

/** The persons with notices that are due, the longest waiting first, without those in progress. */
export function duePersons(sql: Sql, now: number, except: Iterable<string>, limit: number): string[] {
  return sql
    .rows(
      `SELECT user
      FROM notices
      WHERE due <= ? AND user NOT IN (SELECT value FROM json_each(?))
      GROUP BY user
      ORDER BY min(due)
      LIMIT +?`,
      now,
      JSON.stringify([...except]),
      limit,
    )
    .map(([user]) => user)
}

/** What of a person's notices is due, oldest first. */
export function dueNotices(sql: Sql, user: string, now: number, limit: number): NoticeRow[] {
  return sql
    .rows(`SELECT ${COLUMNS} FROM notices WHERE user = ? AND due <= ? ORDER BY n LIMIT +?`, user, now, limit)
    .map(toRow)
}

/** When the next notice is due, without those of persons in progress, or null. */
export function nextNotice(sql: Sql, except: Iterable<string>): number | null {
  const row = sql.rows(
    `SELECT due
    FROM notices
    WHERE due IS NOT NULL AND user NOT IN (SELECT value FROM json_each(?))
    ORDER BY due
    LIMIT 1`,
    JSON.stringify([...except]),
  )[0]
  return row?.[0] ?? null
}

/** Notes what came of sending: null when it is not sent again. */
export function settleNotice(sql: Sql, n: number, due: number | null, failures: number): void {
  sql.run('UPDATE notices SET due = ?, failures = ? WHERE n = ?', due, failures, n)
}

function toRow([n, user, kind, type, entity, by, at, readAt, due, failures]: SqlRow): NoticeRow {
  return { n, user, kind, type, entity, by, at, readAt, due, failures }
}
