import type { Sql } from '../ports.ts'

/** The change that decided a field, when it came by a sync. It counts while `seq` is the event that last changed it. */
export interface ClockRow {
  readonly seq: number
  readonly at: number
  readonly replica: string
  readonly clock: string | null
}

/** The decisions kept for an entity, by field. */
export function readClocks(sql: Sql, entity: string): Map<string, ClockRow> {
  const rows = sql.rows('SELECT field, seq, at, replica, clock FROM clocks WHERE entity = ?', entity)
  return new Map(rows.map(([field, seq, at, replica, clock]) => [field, { seq, at, replica, clock }]))
}

export function writeClock(sql: Sql, entity: string, field: string, row: ClockRow): void {
  sql.run(
    `INSERT INTO clocks (entity, field, seq, at, replica, clock)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (entity, field) DO UPDATE
    SET seq = excluded.seq, at = excluded.at, replica = excluded.replica, clock = excluded.clock`,
    entity,
    field,
    row.seq,
    row.at,
    row.replica,
    row.clock,
  )
}

/** What became of a change that was brought before: whether it was applied; undefined when it is new. */
export function knownChange(sql: Sql, digest: Uint8Array): boolean | undefined {
  const row = sql.rows('SELECT applied FROM synced WHERE digest = ?', digest)[0]
  return row && row[0] === 1
}

export function keepChange(sql: Sql, digest: Uint8Array, applied: boolean): void {
  sql.run('INSERT INTO synced (digest, applied) VALUES (?, ?)', digest, applied ? 1 : 0)
}
