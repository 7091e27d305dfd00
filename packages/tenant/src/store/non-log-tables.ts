import type { Sql, SqlValue } from '../ports.ts'

/** A row that is kept next to the log, by the name of its table; bytes are written as `hex:…`. */
export interface NonLogRow {
  readonly beside: string
  readonly row: readonly (string | number | null)[]
}

/** How much of what is kept next to the log is meant: all of it, what keys and webhooks are identified by, or nothing. */
export type NonLogTables = 'all' | 'secrets' | 'none'

interface NonLogTable {
  /** Its name in the database, where that is another one. */
  readonly table?: string
  readonly columns: string
  readonly isSecret?: boolean
  /** How many columns a row has at least. */
  readonly least?: number
  /** Which of its rows go along. */
  readonly where?: string
  /** True for what goes along with every log. */
  readonly isPublic?: boolean
}

/** What cannot be made from the log: secrets, clocks of syncs, and work that is still to be done. */
const TABLES: { readonly [name: string]: NonLogTable } = {
  meta: { columns: 'key, value', where: `key >= 'sync.' AND key < 'sync/'` },
  // The last signed checkpoint, and under which names the log was signed before.
  proof: { table: 'meta', columns: 'key, value', where: `key >= 'proof.' AND key < 'proof/'`, isPublic: true },
  keys: { isSecret: true, columns: 'id, prefix, hash, expires_at, used_at' },
  credentials: { isSecret: true, columns: 'id, user, kind, data, created_at, used_at' },
  tokens: { isSecret: true, columns: 'hash, id, kind, user, consent, data, created_at, used_at, expires_at' },
  clients: { isSecret: true, columns: 'id, agent, data, created_at, used_at' },
  consents: { isSecret: true, columns: 'id, client, user, data, created_at, used_at, day, writes' },
  receivers: { isSecret: true, columns: 'id, secret, old_secret, old_until, sees, position' },
  event_subscriptions: {
    isSecret: true,
    columns: 'id, actor, consent, name, arguments, url, created_at, expires_at, ended',
  },
  authors: { columns: 'kind, thing, digest, seq, holder, record', isPublic: true },
  workflows: { isSecret: true, columns: 'id, rights, seq, next_at, failures' },
  workflow_runs: {
    columns:
      'n, id, workflow, trigger, seq, at, state, due, hops, retry_of, retried_by, definition, started_at, ended_at, error',
  },
  workflow_steps: { columns: 'run, step, state, tries, input, output, error, started_at, ended_at' },
  workflow_calls: { columns: 'run, step, call, request, answer' },
  waits: { columns: 'run, step, pattern, field, value, filter, seq' },
  asks: {
    columns: 'n, id, run, step, workflow, of, title, fields, state, asked_at, due, answer, answered_by, answered_at',
  },
  mails: { columns: 'id, content, failures, due' },
  notices: { columns: 'n, user, kind, type, entity, by, at, read_at, due, failures' },
  secrets: { isSecret: true, columns: 'name, value, created_at, updated_at, updated_by' },
  integrations: { isSecret: true, columns: 'id, credentials, address, since, due, next_at' },
  clocks: { columns: 'entity, field, seq, at, replica, clock' },
  synced: { columns: 'digest, applied' },
  afters: { table: 'after_hook_queue', columns: 'id, seq, hook, hops, failures, due, error' },
  outbox: {
    columns: 'id, webhook, seq, state, failures, due, at, attempts, body, trace, url',
    least: 9,
    where: `due IS NOT NULL OR state = 'failed'`,
  },
}

/** The rows that are stored next to the log. */
export function* nonLogRows(sql: Sql, which: NonLogTables): Generator<NonLogRow> {
  for (const [beside, { table = beside, columns, where, isSecret, isPublic }] of Object.entries(TABLES)) {
    if (!isPublic && (which === 'none' || (which === 'secrets' && !isSecret))) continue
    const rows = sql.rows(`SELECT ${columns} FROM ${table}${where ? ` WHERE ${where}` : ''}`)
    for (const row of rows) yield { beside, row: row.map(written) }
  }
}

/** Makes room for the rows of another copy of the same engine. */
export function clearNonLogTables(sql: Sql): void {
  for (const [name, { table = name, where }] of Object.entries(TABLES))
    sql.run(`DELETE FROM ${table}${where ? ` WHERE ${where}` : ''}`)
}

/** Adds a row; false when it is not one that this layout knows. */
export function addNonLogRow(sql: Sql, { beside, row }: NonLogRow): boolean {
  const table = Object.hasOwn(TABLES, beside) ? TABLES[beside]! : null
  const all = table?.columns.split(', ') ?? []
  // A log of an earlier version has fewer columns; those that were added since come last and may be null.
  const columns = all.slice(0, row.length)
  if (columns.length === 0 || row.length > all.length || row.length < (table?.least ?? all.length)) return false
  sql.run(
    `INSERT INTO ${table!.table ?? beside} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hexOf(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += HEX[byte]
  return hex
}

/** The values of hexadecimal digits by their characters; 0 for what is none. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0)

export function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2)
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (DIGITS[hex.charCodeAt(2 * i)]! << 4) | DIGITS[hex.charCodeAt(2 * i + 1)]!
  return bytes
}
