import type { Sql, SqlRow } from '../../ports.ts'

/** `new`: not tried yet. `retry`: failed, or asked for again. `delivered`, `failed`: done. `test`: sent once, by hand. */
export type DeliveryState = 'new' | 'retry' | 'delivered' | 'failed' | 'test'

/** Deliveries that still have to be made: those not tried yet, and those to be tried again. */
export type Queue = 'new' | 'retry'

/** One try to deliver. */
export interface Attempt {
  readonly at: string
  /** The HTTP status, or null when there was no answer. */
  readonly status: number | null
  /** Milliseconds until the answer, or until it was given up. */
  readonly latency: number
  readonly error: string | null
}

export interface Delivery {
  readonly id: number
  readonly webhook: string
  /** The event's place in the log; for a test the newest one when it was sent. */
  readonly seq: number
  readonly state: DeliveryState
  readonly failures: number
  readonly due: number | null
  readonly at: number
  readonly attempts: readonly Attempt[]
  readonly body: string | null
  /** The trace of the request that caused the event: its id and flags. */
  readonly trace: string | null
  /** The address it was queued for, when the webhook has another one since. */
  readonly url: string | null
}

/** Due at once, whatever the clock says. */
const AT_ONCE = 0
const MOST_ATTEMPTS = 20
const COLUMNS = 'id, webhook, seq, state, failures, due, at, attempts, body, trace, url'

/** Books an event for a webhook. */
export function enqueueDelivery(sql: Sql, webhook: string, seq: number, at: number, trace: string | null): void {
  sql.run(
    `INSERT INTO outbox (webhook, seq, state, failures, due, at, attempts, trace) VALUES (?, ?, 'new', 0, ?, ?, '[]', ?)`,
    webhook,
    seq,
    AT_ONCE,
    at,
    trace,
  )
}

/** Writes down a test that is being sent. */
export function addTest(sql: Sql, webhook: string, seq: number, at: number, body: string): Delivery {
  const row = sql.rows(
    `INSERT INTO outbox (webhook, seq, state, failures, due, at, attempts, body)
    VALUES (?, ?, 'test', 0, NULL, ?, '[]', ?)
    RETURNING ${COLUMNS}`,
    webhook,
    seq,
    at,
    body,
  )[0]!
  return toDelivery(row)
}

/** Deliveries of a webhook that are due, in order: of time, then of the log. */
export function dueDeliveries(sql: Sql, webhook: string, queue: Queue, now: number, limit: number): Delivery[] {
  return sql
    .rows(
      `SELECT ${COLUMNS} FROM outbox
      WHERE webhook = ? AND state IS ? AND due IS NOT NULL AND due <= ?
      ORDER BY due, id
      LIMIT +?`,
      webhook,
      queue,
      now,
      limit,
    )
    .map(toDelivery)
}

/** When the next delivery of a webhook's queue is due, or null. */
export function nextDelivery(sql: Sql, webhook: string, queue: Queue): number | null {
  return sql.rows(
    'SELECT min(due) FROM outbox WHERE webhook = ? AND state IS ? AND due IS NOT NULL',
    webhook,
    queue,
  )[0]![0]
}

/** The seq of the first event that waits to be sent again, or null. */
export function firstRetry(sql: Sql, webhook: string): number | null {
  return sql.rows(
    `SELECT min(seq) FROM outbox WHERE webhook = ? AND state = 'retry' AND due IS NOT NULL`,
    webhook,
  )[0]![0]
}

/** The seq of the first event that is still to be sent, or null. */
export function firstPending(sql: Sql, webhook: string): number | null {
  return sql.rows('SELECT min(seq) FROM outbox WHERE webhook = ? AND due IS NOT NULL', webhook)[0]![0]
}

/** Queues a message that is not an event. */
export function enqueueMessage(sql: Sql, webhook: string, seq: number, at: number, body: string): void {
  sql.run(
    `INSERT INTO outbox (webhook, seq, state, failures, due, at, attempts, body) VALUES (?, ?, 'new', 0, ?, ?, '[]', ?)`,
    webhook,
    seq,
    AT_ONCE,
    at,
    body,
  )
}

/** Writes down a try: what came of it, and when the next one is due. */
export function saveAttempt(
  sql: Sql,
  delivery: Delivery,
  attempt: Attempt,
  state: DeliveryState,
  failures: number,
  due: number | null,
): void {
  const attempts = [...delivery.attempts, attempt].slice(-MOST_ATTEMPTS)
  sql.run(
    'UPDATE outbox SET state = ?, failures = ?, due = ?, attempts = ? WHERE id = ?',
    state,
    failures,
    due,
    JSON.stringify(attempts),
    delivery.id,
  )
}

/** Queues what has failed permanently again, and gives how many those were. */
export function requeueFailed(sql: Sql, webhook: string): number {
  return sql.rows(
    `UPDATE outbox SET state = 'retry', failures = 0, due = ? WHERE webhook = ? AND state = 'failed' RETURNING id`,
    AT_ONCE,
    webhook,
  ).length
}

/** Brings forward the retries that wait for their time, and gives how many those were. */
export function hastenRetries(sql: Sql, webhook: string): number {
  return sql.rows(
    `UPDATE outbox SET due = ? WHERE webhook = ? AND state = 'retry' AND due > ? RETURNING id`,
    AT_ONCE,
    webhook,
    AT_ONCE,
  ).length
}

/** Queues one delivery again, delivered or not. */
export function requeue(sql: Sql, id: number): void {
  sql.run(
    `UPDATE outbox SET state = CASE state WHEN 'new' THEN 'new' ELSE 'retry' END, failures = 0, due = ? WHERE id = ?`,
    AT_ONCE,
    id,
  )
}

export function delivery(sql: Sql, webhook: string, id: number): Delivery | undefined {
  return sql.rows(`SELECT ${COLUMNS} FROM outbox WHERE id = ? AND webhook = ?`, id, webhook).map(toDelivery)[0]
}

/** Deliveries of a webhook, newest first, before one of them. */
export function listDeliveries(
  sql: Sql,
  webhook: string,
  states: readonly DeliveryState[],
  before: number,
  limit: number,
): Delivery[] {
  return sql
    .rows(
      `SELECT ${COLUMNS} FROM outbox
      WHERE webhook = ? AND state IN (SELECT value FROM json_each(?)) AND id < ?
      ORDER BY id DESC
      LIMIT +?`,
      webhook,
      JSON.stringify(states),
      before,
      limit,
    )
    .map(toDelivery)
}

export function countDeliveries(sql: Sql, webhook: string, states: readonly DeliveryState[]): number {
  return sql.rows(
    'SELECT count(*) FROM outbox WHERE webhook = ? AND state IN (SELECT value FROM json_each(?))',
    webhook,
    JSON.stringify(states),
  )[0]![0]
}

/** Keeps what waits for a webhook at the address that it was queued for. */
export function keepAddress(sql: Sql, webhook: string, url: string): void {
  sql.run('UPDATE outbox SET url = ? WHERE webhook = ? AND due IS NOT NULL AND url IS NULL', url, webhook)
}

/** Drops what a webhook still had to be sent: it is gone. */
export function dropPending(sql: Sql, webhook: string): void {
  sql.run('DELETE FROM outbox WHERE webhook = ? AND due IS NOT NULL', webhook)
}

/** Drops one delivery: its webhook may not see the event any more. */
export function dropDelivery(sql: Sql, id: number): void {
  sql.run('DELETE FROM outbox WHERE id = ?', id)
}

/** When the oldest record of a finished delivery was booked, or null. */
export function oldestDone(sql: Sql): number | null {
  return sql.rows('SELECT min(at) FROM outbox WHERE due IS NULL')[0]![0]
}

/** Forgets finished deliveries that were booked before a time. */
export function forgetDone(sql: Sql, before: number): void {
  sql.run('DELETE FROM outbox WHERE due IS NULL AND at <= ?', before)
}

function toDelivery(row: SqlRow): Delivery {
  const [id, webhook, seq, state, failures, due, at, attempts, body, trace, url] = row
  return { id, webhook, seq, state, failures, due, at, attempts: JSON.parse(attempts), body, trace, url }
}
