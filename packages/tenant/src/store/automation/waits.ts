import type { Sql, SqlRow } from '../../ports.ts'

/** An event that a run waits for. */
export interface WaitRow {
  readonly run: number
  readonly step: number
  readonly pattern: string
  /** An equality that the filter asks for, and its value; both empty where it has none. */
  readonly field: string
  readonly value: string
  /** The whole filter as JSON text. */
  readonly filter: string
  /** The event that came. */
  readonly seq: number | null
}

export function addWait(sql: Sql, wait: Omit<WaitRow, 'seq'>): void {
  sql.run(
    'INSERT OR REPLACE INTO waits (run, step, pattern, field, value, filter) VALUES (?, ?, ?, ?, ?, ?)',
    wait.run,
    wait.step,
    wait.pattern,
    wait.field,
    wait.value,
    wait.filter,
  )
}

export function waitOf(sql: Sql, run: number, step: number): WaitRow | undefined {
  return sql
    .rows('SELECT run, step, pattern, field, value, filter, seq FROM waits WHERE run = ? AND step = ?', run, step)
    .map(toWait)[0]
}

/** Each pattern that a run waits for, with the field of an equality. */
export function waitedFor(sql: Sql): { readonly pattern: string; readonly field: string }[] {
  const found: { pattern: string; field: string }[] = []
  for (let [pattern, field] = ['', '']; ; ) {
    const [next] = sql.rows(
      'SELECT pattern, field FROM waits WHERE seq IS NULL AND (pattern, field) > (?, ?) ORDER BY pattern, field LIMIT 1',
      pattern,
      field,
    )
    if (!next) return found
    ;[pattern, field] = next as [string, string]
    found.push({ pattern, field })
  }
}

/** The waits for a pattern with one value of a field. */
export function waitsFor(sql: Sql, pattern: string, field: string, value: string): WaitRow[] {
  return sql
    .rows(
      `SELECT run, step, pattern, field, value, filter, seq
      FROM waits
      WHERE seq IS NULL AND pattern = ? AND field = ? AND value = ?`,
      pattern,
      field,
      value,
    )
    .map(toWait)
}

/** Waits of runs whose event has not come, in their order after one of them. */
export function openWaits(sql: Sql, after: Pick<WaitRow, 'run' | 'step'>, limit: number): WaitRow[] {
  return sql
    .rows(
      `SELECT run, step, pattern, field, value, filter, seq
      FROM waits
      WHERE seq IS NULL AND (run, step) > (?, ?)
      ORDER BY run, step
      LIMIT ?`,
      after.run,
      after.step,
      limit,
    )
    .map(toWait)
}

/** How many runs wait for a pattern without an equality that would find them. */
export function countOpenWaits(sql: Sql, pattern: string): number {
  return sql.rows(`SELECT count(*) FROM waits WHERE seq IS NULL AND pattern = ? AND field = ''`, pattern)[0]![0]
}

/** Notes the event that a run waited for. */
export function endWait(sql: Sql, run: number, seq: number): void {
  sql.run('UPDATE waits SET seq = ? WHERE run = ?', seq, run)
}

export function dropWait(sql: Sql, run: number): void {
  sql.run('DELETE FROM waits WHERE run = ?', run)
}

function toWait([run, step, pattern, field, value, filter, seq]: SqlRow): WaitRow {
  return { run, step, pattern, field, value, filter, seq }
}
