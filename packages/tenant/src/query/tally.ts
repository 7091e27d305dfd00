import { MEASURED, WHO } from '../store/measures.ts'
import { presence } from './compile.ts'
import { type Fragment, fragment, plain } from './fragment.ts'
import type { Moment, Reader } from './reader.ts'
import { sourceOf } from './source.ts'

/** A stretch of time, its ends in ISO 8601: after `from`, up to and including `to`. */
export interface Window {
  readonly from: string
  readonly to: string
}

/** The subscriptions of one plan. */
export interface SubscriptionTally {
  readonly plan: string | null
  readonly count: number
  readonly active: number
  /** The sum of the quantities of the active ones. */
  readonly quantity: number
  /** Those whose trial is over, and those of them that went on. */
  readonly trialed: number
  readonly converted: number
  /** Those that ran when the window began, and those of them that were cancelled within it. */
  readonly started: number
  readonly lost: number
}

/** The deals of one stage and currency. */
export interface DealTally {
  readonly stage: string | null
  readonly currency: string | null
  readonly count: number
  /** How many have a value, and the sum of it. */
  readonly valued: number
  readonly value: number
}

/** Adds up the subscriptions by plan; null when only memory can tell which of them the reader sees. */
export function tallySubscriptions(reader: Reader, moment: Moment, { from, to }: Window): SubscriptionTally[] | null {
  const rows = measured(reader, 'Subscription', moment)
  if (rows === null) return null
  const { sql, values } = fragment`
    SELECT plan, count(*), total(status = 'Active'), total((status = 'Active') * quantity),
      total(trial AND status <> 'Trialing'),
      total(trial AND (status IN ('Active', 'PastDue', 'Paused') OR status = 'Cancelled' AND ended > trial_end)),
      total(began <= ${from} AND status NOT IN ('Trialing', 'Incomplete') AND (status <> 'Cancelled' OR ended > ${from})),
      total(began <= ${from} AND status = 'Cancelled' AND ended > ${from} AND ended <= ${to})
    FROM (
      SELECT ${rows.field('plan')} AS plan, ${rows.field('status')} AS status,
        coalesce(${rows.field('quantity')}, 1) AS quantity, ${rows.field('startedAt')} AS began,
        coalesce(${rows.field('canceledAt')}, ${rows.field('endedAt')}) AS ended,
        coalesce(${rows.field('trialStart')}, ${rows.field('trialEnd')}) IS NOT NULL AS trial,
        ${rows.field('trialEnd')} AS trial_end
      FROM ${rows.from}
      WHERE ${rows.where})
    GROUP BY plan`
  return reader.sql.rows(sql, ...values).map(([plan, count, active, quantity, trialed, converted, started, lost]) => {
    return { plan, count, active, quantity, trialed, converted, started, lost }
  })
}

/** Adds up the deals by stage and currency. */
export function tallyDeals(reader: Reader, moment: Moment): DealTally[] | null {
  const rows = measured(reader, 'Deal', moment)
  if (rows === null) return null
  const { sql, values } = fragment`
    SELECT ${rows.field('stage')} AS stage, ${rows.field('currency')} AS currency, count(*),
      count(${rows.field('value')}), total(${rows.field('value')})
    FROM ${rows.from}
    WHERE ${rows.where}
    GROUP BY stage, currency`
  return reader.sql
    .rows(sql, ...values)
    .map(([stage, currency, count, valued, value]) => ({ stage, currency, count, valued, value }))
}

/** How many tickets wait, how long a first answer takes in milliseconds, and how satisfied people are. */
export function tallyTickets(reader: Reader, moment: Moment) {
  const rows = measured(reader, 'Ticket', moment)
  if (rows === null) return null
  // Before the answer came the ticket: one that was imported with its answer tells nothing about the wait.
  const { sql, values } = fragment`
    SELECT total(coalesce(status, 'Open') NOT IN ('Resolved', 'Closed')), avg(satisfaction),
      avg(CASE WHEN answered >= created THEN answered - created END)
    FROM (
      SELECT ${rows.field('status')} AS status, ${rows.field('satisfaction')} AS satisfaction,
        (julianday(${rows.field('firstResponseAt')}) - 2440587.5) * 86400000.0 AS answered, ${rows.createdAt} AS created
      FROM ${rows.from}
      WHERE ${rows.where})`
  const [open, satisfaction, responseMs] = reader.sql.rows(sql, ...values)[0] as [number, number | null, number | null]
  return { open, satisfaction, responseMs }
}

/** How many leads there are, how many were converted, and how many are new since a time. */
export function tallyLeads(reader: Reader, moment: Moment, since: number) {
  const rows = measured(reader, 'Lead', moment)
  if (rows === null) return null
  const { sql, values } = fragment`
    SELECT count(*), total(${rows.field('status')} = 'Converted'), total(${rows.createdAt} > ${since})
    FROM ${rows.from}
    WHERE ${rows.where}`
  const [count, converted, recent] = reader.sql.rows(sql, ...values)[0] as [number, number, number]
  return { count, converted, recent }
}

/** How many campaigns run. */
export function tallyCampaigns(reader: Reader, moment: Moment): number | null {
  const rows = measured(reader, 'Campaign', moment)
  if (rows === null) return null
  const { sql, values } = fragment`
    SELECT count(*)
    FROM ${rows.from}
    WHERE ${rows.where} AND ${rows.field('status')} IN ('Active', 'Launched')`
  return reader.sql.rows(sql, ...values)[0]![0]
}

/** How many events were tracked in a window, and by how many people. */
export function tallyEvents(reader: Reader, moment: Moment, { from, to }: Window) {
  const { narrow } = reader
  const source = sourceOf(reader, 'Event', moment, 'e')
  const seen = narrow?.('Event') ? presence({ reader, moment, type: 'Event', source, narrowed: true }) : plain('1')
  if (seen === null) return null
  const { sql, values } = fragment`
    SELECT count(*), count(DISTINCT ${plain(WHO.replaceAll('data', 'e.data'))})
    FROM log e INDEXED BY measures_Event
    WHERE e.type = 'Event' AND e.data ->> '$.timestamp' > ${from} AND e.data ->> '$.timestamp' <= ${to}
      AND ${moment.asOf === null ? plain('1') : fragment`e.seq <= ${moment.asOf}`} AND ${seen}`
  const [events, users] = reader.sql.rows(sql, ...values)[0] as [number, number]
  return { events, users }
}

/** The active subscriptions of a moment by their plan then, and what they are at a later one. */
export function tallyRetention(reader: Reader, then: Moment, now: Moment) {
  const before = measured(reader, 'Subscription', then, 'a')
  const after = measured(reader, 'Subscription', now, 'b')
  if (before === null || after === null) return null
  const { sql, values } = fragment`
    SELECT old.plan, new.plan, total(old.quantity), total((new.status = 'Active') * new.quantity)
    FROM (
      SELECT ${before.n} AS n, ${before.field('plan')} AS plan, coalesce(${before.field('quantity')}, 1) AS quantity
      FROM ${before.from}
      WHERE ${before.where} AND ${before.field('status')} = 'Active') old
    LEFT JOIN (
      SELECT ${after.n} AS n, ${after.field('plan')} AS plan, ${after.field('status')} AS status,
        coalesce(${after.field('quantity')}, 1) AS quantity
      FROM ${after.from}
      WHERE ${after.where}) new ON new.n = old.n
    GROUP BY old.plan, new.plan`
  return reader.sql
    .rows(sql, ...values)
    .map(([plan, nextPlan, quantity, nextQuantity]) => ({ plan, nextPlan, quantity, nextQuantity }))
}

interface Measured {
  readonly from: Fragment
  readonly where: Fragment
  readonly n: Fragment
  readonly createdAt: Fragment
  /** The value of a field of ours. Never a name from outside. */
  field(name: string): Fragment
}

/** The rows of a type that a reader sees at a moment: along the index that holds what is asked, where there is one. */
function measured(reader: Reader, type: string, moment: Moment, alias = 'e'): Measured | null {
  const source = sourceOf(reader, type, moment, alias)
  const narrowed = reader.narrow?.(type) ?? null
  const where = presence({ reader, moment, type, source, narrowed: true })
  if (where === null) return null
  const indexed = MEASURED.has(type) && narrowed === null && moment.asOf === null
  return {
    from: indexed ? plain(`entities ${alias} INDEXED BY measures_${type}`) : source.from,
    // The index is partial: SQLite takes it only when it reads the type in the statement itself.
    where: indexed ? plain(`${alias}.type = '${type}' AND ${alias}.gone = 0`) : where,
    n: source.n,
    createdAt: source.createdAt,
    field: (name) => fragment`${source.data} ->> ${plain(`'$.${name}'`)}`,
  }
}
