import type { Sql, SqlRow } from '../../ports.ts'
import { getMeta, setMeta } from '../meta.ts'

/** A verb that will run on an entity at a time. */
export interface TimerRow {
  /** The place of the entity. */
  readonly n: number
  readonly type: string
  readonly name: string
  readonly at: number
  /** When it is to run; null once it failed or ran. */
  readonly due: number | null
  /** How many timers, hooks or workflows, one right after the other, led to it. */
  readonly hops: number
  /** Why the verb was refused, or null. */
  readonly error: string | null
}

/** Schedules a timer in place of what was scheduled under its name. `seq` is the event that did so. */
export function scheduleTimer(sql: Sql, row: Omit<TimerRow, 'due' | 'error'>, seq: number): void {
  sql.run(`${INSERT} ${REPLACE}`, row.n, row.name, row.type, row.at, row.at, row.hops, seq)
}

/** Schedules a timer unless an event after `seq` has decided about it. */
export function scheduleMissing(sql: Sql, row: Omit<TimerRow, 'due' | 'error'>, seq: number): void {
  sql.run(`${INSERT} ${REPLACE} WHERE timers.seq < excluded.seq`, row.n, row.name, row.type, row.at, row.at, 0, seq)
}

export function cancelTimer(sql: Sql, n: number, name: string): void {
  sql.run('DELETE FROM timers WHERE n = ? AND name = ?', n, name)
}

/** Keeps a timer that has run until a scan has passed it, so that the scan does not schedule it again. */
export function markRun(sql: Sql, n: number, name: string): void {
  sql.run('UPDATE timers SET due = NULL, error = NULL WHERE n = ? AND name = ?', n, name)
}

/** Removes the marks of timers that have run, up to a place. */
export function removeMarks(sql: Sql, type: string, name: string, after: number, until: number): void {
  sql.run(
    'DELETE FROM timers WHERE n > ? AND n <= ? AND name = ? AND type = ? AND due IS NULL AND error IS NULL',
    after,
    until,
    name,
    type,
  )
}

/** Leaves a timer to look at: its verb was refused. */
export function failTimer(sql: Sql, n: number, name: string, error: string): void {
  sql.run('UPDATE timers SET due = NULL, error = ? WHERE n = ? AND name = ?', error.slice(0, 1_000), n, name)
}

export function postponeTimer(sql: Sql, n: number, name: string, due: number): void {
  sql.run('UPDATE timers SET due = ? WHERE n = ? AND name = ?', due, n, name)
}

/** The timers of an entity that wait or failed, the next first. */
export function timersAt(sql: Sql, n: number): TimerRow[] {
  return sql.rows(`${SELECT} WHERE n = ? AND (due IS NOT NULL OR error IS NOT NULL) ORDER BY at, name`, n).map(toRow)
}

/** What is due, in the order of time. */
export function dueTimers(sql: Sql, now: number, limit: number): TimerRow[] {
  return sql.rows(`${SELECT} WHERE due <= ? ORDER BY due, n, name LIMIT +?`, now, limit).map(toRow)
}

/** When the next timer is due, or null. */
export function nextTimer(sql: Sql): number | null {
  return sql.rows('SELECT min(due) FROM timers WHERE due IS NOT NULL')[0]![0]
}

export function clearTimers(sql: Sql): void {
  sql.run('DELETE FROM timers')
  sql.run('DELETE FROM timer_scans')
}

/** Forgets all timers. When the tenant is next opened they are made again from its entities, for times after `now`. */
export function forgetTimers(sql: Sql, now: number): void {
  clearTimers(sql)
  setMeta(sql, DECLARED_TIMERS, `${TIMERS_FORGOTTEN} ${now}`)
}

/** The time after which timers have to be made again, or null. */
export function forgottenTimers(sql: Sql, now: number): number | null {
  const [word, at] = getMeta(sql, DECLARED_TIMERS)?.split(' ') ?? []
  return word === TIMERS_FORGOTTEN ? Number(at ?? now) : null
}

/** The key in `meta` of what the program declared when the tenant was last opened: timers with their fields. */
export const DECLARED_TIMERS = 'timers.declared'
/** Its value when timers have to be made again, with the time at which they were forgotten. */
const TIMERS_FORGOTTEN = 'forgotten'

/** A timer whose type had entities when it was declared: they are gone through in their order. */
export interface TimerScan {
  readonly type: string
  readonly name: string
  /** The place that the scan has reached. */
  readonly after: number
  /** The event that declared the timer. */
  readonly seq: number
  /** Only later times are scheduled. */
  readonly later: number
}

export function startScan(sql: Sql, { type, name, seq, later }: Omit<TimerScan, 'after'>): void {
  sql.run(
    `INSERT INTO timer_scans (type, name, after, seq, later)
    VALUES (?, ?, 0, ?, ?)
    ON CONFLICT (type, name) DO UPDATE
    SET after = 0, seq = excluded.seq, later = excluded.later`,
    type,
    name,
    seq,
    later,
  )
}

export function nextScan(sql: Sql): TimerScan | undefined {
  return sql.rows(`${SELECT_SCAN} LIMIT 1`).map(toScan)[0]
}

export function scanOf(sql: Sql, type: string, name: string): TimerScan | undefined {
  return sql.rows(`${SELECT_SCAN} WHERE type = ? AND name = ?`, type, name).map(toScan)[0]
}

export function hasScans(sql: Sql): boolean {
  return sql.rows('SELECT 1 FROM timer_scans LIMIT 1').length > 0
}

export function moveScan(sql: Sql, { type, name }: TimerScan, after: number): void {
  sql.run('UPDATE timer_scans SET after = ? WHERE type = ? AND name = ?', after, type, name)
}

export function endScan(sql: Sql, { type, name }: Pick<TimerScan, 'type' | 'name'>): void {
  sql.run('DELETE FROM timer_scans WHERE type = ? AND name = ?', type, name)
}

const INSERT =
  'INSERT INTO timers (n, name, type, at, due, hops, seq, error) VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (n, name) DO UPDATE'
const REPLACE =
  'SET type = excluded.type, at = excluded.at, due = excluded.due, hops = excluded.hops, seq = excluded.seq, error = NULL'
const SELECT = 'SELECT n, type, name, at, due, hops, error FROM timers'
const SELECT_SCAN = 'SELECT type, name, after, seq, later FROM timer_scans'

function toRow([n, type, name, at, due, hops, error]: SqlRow): TimerRow {
  return { n, type, name, at, due, hops, error }
}

function toScan([type, name, after, seq, later]: SqlRow): TimerScan {
  return { type, name, after, seq, later }
}
