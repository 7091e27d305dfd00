import type { Sql, SqlValue } from '../ports.ts'

/** A row that stands beside the log, by the name of its table; bytes are written as `hex:…`. */
export interface NonLogRow {
  readonly beside: string
  readonly row: readonly (string | number | null)[]
}

/** How much of what stands beside the log is meant: all of it, what keys and webhooks are known by, or nothing. */
export type NonLogTables = 'all' | 'secrets' | 'none'

interface BesideTable {
  readonly columns: string
  readonly isSecret?: boolean
  /** Which of its rows go along. */
  readonly where?: string
}

/** What cannot be made from the log: secrets, clocks of syncs, and work that is still to be done. */
const TABLES: { readonly [name: string]: BesideTable } = {
  meta: { columns: 'key, value', where: `key >= 'sync.' AND key < 'sync/'` },
  keys: { isSecret: true, columns: 'id, prefix, hash, expires_at, used_at' },
  receivers: { isSecret: true, columns: 'id, secret, old_secret, old_until, sees, position' },
  clocks: { columns: 'entity, field, seq, at, replica, clock' },
  synced: { columns: 'digest, applied' },
  afters: { columns: 'id, seq, hook, hops, failures, due, error' },
  outbox: {
    columns: 'id, webhook, seq, state, failures, due, at, attempts, body',
    where: `due IS NOT NULL OR state = 'failed'`,
  },
}

/** The rows that stand beside the log. */
export function* nonLogRows(sql: Sql, which: NonLogTables): Generator<NonLogRow> {
  for (const [beside, { columns, where, isSecret }] of Object.entries(TABLES)) {
    if (which === 'none' || (which === 'secrets' && !isSecret)) continue
    const rows = sql.rows(`SELECT ${columns} FROM ${beside}${where ? ` WHERE ${where}` : ''}`)
    for (const row of rows) yield { beside, row: row.map(written) }
  }
}

/** Makes room for the rows of another copy of the same tenant. */
export function clearNonLogTables(sql: Sql): void {
  for (const [name, { where }] of Object.entries(TABLES))
    sql.run(`DELETE FROM ${name}${where ? ` WHERE ${where}` : ''}`)
}

/** Adds a row; false when it is not one that this layout knows. */
export function addNonLogRow(sql: Sql, { beside, row }: NonLogRow): boolean {
  const table = Object.hasOwn(TABLES, beside) ? TABLES[beside]! : null
  const columns = table?.columns.split(', ') ?? []
  if (columns.length === 0 || row.length !== columns.length) return false
  sql.run(
    `INSERT INTO ${beside} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...row.map(read),
  )
  return true
}

function written(value: SqlValue): string | number | null {
  return value instanceof Uint8Array ? `hex:${hexOf(value)}` : value
}

function read(value: string | number | null): SqlValue {
  return typeof value === 'string' && value.startsWith('hex:') ? bytesOf(value.slice('hex:'.length)) : value
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
}
