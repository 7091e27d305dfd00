import type { Sql } from '../ports.ts'

/** The status of what has begun and not ended. */
export const BEGUN = 0

/** An answer kept for an Idempotency-Key. */
export interface KeptAnswer {
  readonly fingerprint: string
  /** `BEGUN` while there is no answer yet; the body then tells how far it is. */
  readonly status: number
  readonly headers: string
  readonly body: string | null
  /** The scopes and rows of the key that made the request, as JSON. */
  readonly rights: string
  readonly at: number
}

export function keptAnswer(sql: Sql, scope: string): KeptAnswer | undefined {
  const row = sql.rows('SELECT fingerprint, status, headers, body, rights, at FROM answers WHERE scope = ?', scope)[0]
  return row && { fingerprint: row[0], status: row[1], headers: row[2], body: row[3], rights: row[4], at: row[5] }
}

export function keepAnswer(sql: Sql, scope: string, answer: KeptAnswer): void {
  sql.run(
    'INSERT OR REPLACE INTO answers (scope, fingerprint, status, headers, body, rights, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    scope,
    answer.fingerprint,
    answer.status,
    answer.headers,
    answer.body,
    answer.rights,
    answer.at,
  )
}

/** Notes how far something that has begun is. */
export function noteProgress(sql: Sql, scope: string, body: string): void {
  sql.run('UPDATE answers SET body = ? WHERE scope = ?', body, scope)
}

export function dropAnswer(sql: Sql, scope: string): void {
  sql.run('DELETE FROM answers WHERE scope = ?', scope)
}

export function forgetOldAnswers(sql: Sql, before: number): void {
  sql.run('DELETE FROM answers WHERE at <= ?', before)
}
