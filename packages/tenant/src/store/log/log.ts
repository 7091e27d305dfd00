import type { Random, Seal, Sql, SqlRow, SqlValue } from '../../ports.ts'
import { nameOf, numberName } from '../names.ts'
import { isWhole, seqIn, storedId, wholeId } from './event-ids.ts'
import { EVENT_SIZE, fitting, fittingEvents } from './parts.ts'

/** What an event says; its seq and its place in the chain are given by the log. */
export interface Entry {
  readonly id: string
  /** When it happened. */
  readonly at: number
  /** When it was recorded, for a change of the past that was imported; null when that is the time at which it happened. */
  readonly recordedAt: number | null
  readonly type: string
  readonly entity: string
  readonly verb: string
  readonly event: string
  readonly version: number
  readonly actor: string
  readonly correlation: string | null
  /** The person that the actor acts for, when that is another: an agent's user, the author of a changeset. */
  readonly onBehalfOf: string | null
  readonly createdAt: number
  readonly createdBy: string
  /** The state after, as JSON text; null once erased. */
  readonly data: string | null
  /** The changed fields with their values before, as JSON text. */
  readonly previous: string | null
  /** The arguments of the verb, as JSON text. */
  readonly args: string | null
}

export interface LogRow extends Entry {
  readonly seq: number
}

/** Where an event belongs in the file. */
export interface EventPlace {
  /** The number of the entity; null for a tracked Event, which has no row besides its event. */
  readonly n: number | null
  /** The seq of the version that it took the place of. */
  readonly replaced: number | null
}

/**
 * The types of the service itself: rights, and what happens automatically. Their events keep their own times when a
 * past is imported next to them.
 */
const OWN_TYPES: readonly string[] = [
  'ApiKey',
  'User',
  'AccessRole',
  'Schema',
  'Hook',
  'Webhook',
  'Workflow',
  'Integration',
  'View',
  'Erasure',
]

const OWN = new Set(OWN_TYPES)

const MOST_IN_PART = 1_000

export function isOwnType(type: string): boolean {
  return OWN.has(type)
}

/** The end of the log: where the next event continues. */
export interface Head {
  readonly seq: number
  /** When the newest event was recorded. */
  readonly at: number
  /** The time of the newest event, without those of the service's own types: a past is imported after it. */
  readonly happenedAt: number
  readonly hash: Uint8Array
}

/** The head of a log without events. */
export const BEGINNING: Head = { seq: 0, at: 0, happenedAt: 0, hash: new Uint8Array(32) }
const SALT_LENGTH = 16

export function readHead(sql: Sql): Head {
  const row = sql.rows(`SELECT seq, ${RECORDED_AT}, hash FROM log ORDER BY seq DESC LIMIT 1`)[0]
  if (!row) return BEGINNING
  const happened = sql.rows(BUSINESS_UNTIL, row[0])[0]
  return { seq: row[0], at: row[1], happenedAt: happened?.[1] ?? 0, hash: row[2] }
}

/** The head after one more event. */
export function headAfter(head: Head, entry: Entry, hash: Uint8Array): Head {
  const happenedAt = isOwnType(entry.type) ? head.happenedAt : entry.at
  return { seq: head.seq + 1, at: entry.recordedAt ?? entry.at, happenedAt, hash }
}

/**
 * Whether an event may follow a head: events are recorded in the order of time, and happen in the order of time, where
 * those of the service's own types do not count.
 */
export function isInOrder(head: Head, { type, at, recordedAt }: Pick<Entry, 'type' | 'at' | 'recordedAt'>): boolean {
  const recorded = recordedAt ?? at
  return recorded >= head.at && at <= recorded && (isOwnType(type) || at >= head.happenedAt)
}

/** The seq of the newest event, as the log has it. */
export function lastSeq(sql: Sql): number {
  return sql.rows('SELECT coalesce(max(seq), 0) FROM log')[0]![0]
}

/** Appends an event after the head and returns the new head. The hash of each event covers the one before it. */
export function append(sql: Sql, seal: Seal, random: Random, head: Head, entry: Entry, place: EventPlace): Head {
  const seq = head.seq + 1
  // A salted digest represents the values in the chain, so that they can be erased and not be guessed from it.
  const salt = random.bytes(SALT_LENGTH)
  const hash = chain(seal, head.hash, seq, entry, digestOf(seal, salt, entry))
  // SQLite gives the seq: it must be the one that is sealed, which the commit checks.
  insertEvent(sql, null, rowId(entry, place, seq), entry, place, salt, hash, null)
  return headAfter(head, entry, hash)
}

/** What the row of an event holds of its id. A tracked Event is also looked up as the entity that it is. */
export function rowId({ id, at }: Entry, { n }: EventPlace, seq: number): string {
  return n === null ? id : storedId(id, at, seq)
}

/**
 * Writes the row of an event. `created` is when and by whom its entity was created, as another row of the file tells it;
 * null when the row of the entity is made of this event.
 */
export function insertEvent(
  sql: Sql,
  seq: number | null,
  id: string,
  entry: Entry,
  { n, replaced }: EventPlace,
  salt: Uint8Array | null,
  hash: Uint8Array,
  digest: Uint8Array | null,
  created: { readonly at: number; readonly by: string } | null = n === null ? { at: entry.at, by: entry.actor } : null,
): void {
  const values = [
    seq,
    id,
    entry.at,
    numberName(sql, entry.type),
    n,
    numberName(sql, entry.verb),
    numberName(sql, entry.event),
    entry.version,
    replaced,
    numberName(sql, entry.actor),
    salt,
    hash,
    entry.data,
    entry.previous,
    entry.args,
    entry.correlation,
  ]
  const onBehalfOf = entry.onBehalfOf === null ? null : numberName(sql, entry.onBehalfOf)
  const entity = n !== null || entry.entity === entry.id ? null : entry.entity
  const createdAt = created === null || created.at === entry.createdAt ? null : entry.createdAt
  const createdBy = created === null || created.by === entry.createdBy ? null : numberName(sql, entry.createdBy)
  const isPlain = (onBehalfOf ?? entity ?? createdAt ?? createdBy ?? digest ?? entry.recordedAt) === null
  if (isPlain) sql.run(INSERT, ...values)
  else sql.run(INSERT_WHOLE, ...values, onBehalfOf, entity, createdAt, createdBy, digest, entry.recordedAt)
}

/** The digest of an event's values under its salt. */
export function digestOf(seal: Seal, salt: Uint8Array, entry: Pick<Entry, 'data' | 'previous' | 'args'>): Uint8Array {
  const { data, previous, args } = entry
  // An event without arguments has the digest that it had before events kept any.
  if (args === null) return seal.sha256(salt, data ?? '', '\n', previous ?? '')
  return seal.sha256(salt, data ?? '', '\n', previous ?? '', '\n', args)
}

/** Whether an event has the values of its digest. Without a salt they were erased: then it has none. */
export function hasOwnValues(
  seal: Seal,
  row: Pick<Entry, 'data' | 'previous' | 'args'> & { readonly salt: Uint8Array | null; readonly digest: Uint8Array },
): boolean {
  if (row.salt === null) return !hasValues(row)
  return seal.equal(digestOf(seal, row.salt, row), row.digest)
}

export function hasValues({ data, previous, args }: Pick<Entry, 'data' | 'previous' | 'args'>): boolean {
  return data !== null || previous !== null || args !== null
}

/** The hash of an event: over the hash before it, its header and the digest of its values. */
export function chain(seal: Seal, before: Uint8Array, seq: number, entry: Entry, digest: Uint8Array): Uint8Array {
  return seal.sha256(before, headerText(seq, entry), digest)
}

/** What the chain says of an event in addition to its values, as JSON text. */
export function headerText(seq: number, entry: Entry): string {
  const header = [
    seq,
    entry.id,
    entry.at,
    entry.type,
    entry.entity,
    entry.verb,
    entry.event,
    entry.version,
    entry.actor,
    entry.correlation,
    entry.createdAt,
    entry.createdBy,
  ]
  // Only where there is one: events from before have no place for it.
  if (entry.onBehalfOf) header.push(entry.onBehalfOf)
  // A number, so that it is not taken for a person.
  if (typeof entry.recordedAt === 'number') header.push(entry.recordedAt)
  return JSON.stringify(header)
}

/** Events after a seq, oldest first: at most `limit`, and fewer when they are large. None when there are no more. */
export function readLog(sql: Sql, after: number, limit: number): LogRow[] {
  const most = fittingEvents(sql, after, limit)
  return eventRows(sql, 'WHERE l.seq > ? ORDER BY l.seq LIMIT +?', after, most)
}

/** Events of the service's own types after a seq, up to another, oldest first. */
export function ownBetween(sql: Sql, after: number, until: number): LogRow[] {
  if (until <= after) return []
  return eventRows(sql, `WHERE l.seq > ? AND l.seq <= ? AND NOT (l.${IS_BUSINESS}) ORDER BY l.seq`, after, until)
}

/** The seqs of events that share a correlation, oldest first: so many after a seq. */
export function correlatedSeqs(sql: Sql, correlation: string, after: number, limit: number): number[] {
  const rows = sql.rows(
    'SELECT seq FROM log WHERE correlation = ? AND seq > ? ORDER BY seq LIMIT +?',
    correlation,
    after,
    limit,
  )
  return rows.map(([seq]) => seq)
}

export function readEntry(sql: Sql, seq: number): LogRow | undefined {
  return eventRows(sql, 'WHERE l.seq = ?', seq)[0]
}

/** The event with this id. */
export function readEntryOf(sql: Sql, id: string): LogRow | undefined {
  const [row] = eventRows(sql, `WHERE l.id = ? AND ${isWhole('l.')}`, id)
  if (row) return row
  const seq = seqIn(id)
  const named = seq > 0 ? readEntry(sql, seq) : undefined
  return named?.id === id ? named : undefined
}

/** The events of these seqs, newest first. */
export function readEntries(sql: Sql, seqs: readonly number[]): LogRow[] {
  return eventRows(sql, 'WHERE l.seq IN (SELECT value FROM json_each(?)) ORDER BY l.seq DESC', JSON.stringify(seqs))
}

/** The events of these seqs, newest first, a few MiB of them at a time. */
export function* eachEntry(sql: Sql, seqs: readonly number[]): Generator<LogRow> {
  const left = seqs.toSorted((a, b) => b - a)
  while (left.length > 0) {
    const part = left.splice(0, fitting(readSizes(sql, left.slice(0, MOST_IN_PART))))
    yield* readEntries(sql, part)
  }
}

/** The bytes of the events of these seqs, newest first. */
export function readSizes(sql: Sql, seqs: readonly number[]): number[] {
  const some = 'SELECT value FROM json_each(?)'
  const rows = sql.rows(`SELECT ${EVENT_SIZE} FROM log WHERE seq IN (${some}) ORDER BY seq DESC`, JSON.stringify(seqs))
  return rows.map(([size]) => size)
}

/** Which of these events made a version; null if none did. */
export function seqOfVersion(sql: Sql, seqs: readonly number[], version: number): number | null {
  const some = 'SELECT value FROM json_each(?)'
  const rows = sql.rows(`SELECT seq FROM log WHERE seq IN (${some}) AND version = ?`, JSON.stringify(seqs), version)
  return rows[0]?.[0] ?? null
}

export function hasEntry(sql: Sql, id: string): boolean {
  return readEntryOf(sql, id) !== undefined
}

/**
 * The last seq at or before a time: what happened until then. The service's own types have another past when one was
 * imported: see `recordedSeqAt`.
 */
export function seqAt(sql: Sql, head: Head, at: number): number {
  const recorded = recordedSeqAt(sql, head, at)
  const next = sql.rows(BUSINESS_AFTER, recorded)[0]
  if (!next || next[1] > at) return recorded
  let low: number = next[0]
  let high = head.seq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [row] = sql.rows(BUSINESS_UNTIL, middle)
    if (row![1] <= at) low = middle
    else high = row![0] - 1
  }
  return low
}

/** The last seq that was recorded at or before a time. These times never decrease, so halving finds it without an index. */
export function recordedSeqAt(sql: Sql, head: Head, at: number): number {
  if (at >= head.at) return head.seq
  let low = 0
  let high = head.seq
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [row] = sql.rows(`SELECT ${RECORDED_AT} FROM log WHERE seq = ?`, middle)
    if (row![0] <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** The seq that a time means for a type. */
export function seqOfTypeAt(sql: Sql, head: Head, type: string, at: number): number {
  return isOwnType(type) ? recordedSeqAt(sql, head, at) : seqAt(sql, head, at)
}

const RECORDED_AT = 'coalesce(recorded_at, at)'
const IS_BUSINESS = `type NOT IN (
  SELECT names.n FROM names WHERE names.name IN (${OWN_TYPES.map((type) => `'${type}'`).join(', ')}))`
const BUSINESS_UNTIL = `SELECT seq, at FROM log WHERE seq <= ? AND ${IS_BUSINESS} ORDER BY seq DESC LIMIT 1`
const BUSINESS_AFTER = `SELECT seq, at FROM log WHERE seq > ? AND ${IS_BUSINESS} ORDER BY seq LIMIT 1`

/** The columns of an event, in the order of `toRow`, from `log l LEFT JOIN entities e`. */
export const EVENT_COLUMNS = `l.seq, l.id, l.at, l.type, coalesce(e.id, l.entity, l.id), l.verb, l.event, l.version, l.actor,
  l.correlation, coalesce(l.created_at, e.created_at, l.at), coalesce(l.created_by, e.created_by, l.actor), l.data,
  l.previous, l.args, l.on_behalf_of, l.recorded_at`
export const EVENT_TABLES = 'log l LEFT JOIN entities e ON e.n = l.n'

const SELECT = `SELECT ${EVENT_COLUMNS} FROM ${EVENT_TABLES}`
const COLUMNS =
  'seq, id, at, type, n, verb, event, version, replaced, actor, salt, hash, data, previous, args, correlation'
// For almost every event: the other columns are null, and binding a null takes time.
const INSERT = `INSERT INTO log (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_WHOLE = `
  INSERT INTO log (${COLUMNS}, on_behalf_of, entity, created_at, created_by, digest, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** A row of `EVENT_COLUMNS`, with names instead of numbers. */
export function toRow(sql: Sql, row: SqlRow): LogRow {
  const [seq, id, at, type, entity, verb, event, version, actor, correlation, createdAt, createdBy] = row
  const [data, previous, args, onBehalfOf, recordedAt] = row.slice(12)
  return {
    seq,
    id: wholeId(id, at, seq),
    at,
    recordedAt,
    type: nameOf(sql, type),
    entity,
    verb: nameOf(sql, verb),
    event: nameOf(sql, event),
    version,
    actor: nameOf(sql, actor),
    correlation,
    onBehalfOf: onBehalfOf === null ? null : nameOf(sql, onBehalfOf),
    createdAt,
    createdBy: nameOf(sql, createdBy),
    data,
    previous,
    args,
  }
}

function eventRows(sql: Sql, rest: string, ...values: SqlValue[]): LogRow[] {
  return sql.rows(`${SELECT} ${rest}`, ...values).map((row) => toRow(sql, row))
}
