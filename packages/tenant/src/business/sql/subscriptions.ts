import { fragment } from '../../query/plan/fragment.ts'
import { type Moment, queryRows, type ReadContext } from '../../query/reader.ts'
import { type Measured, measured } from './measured.ts'

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
  /** Those whose trial is over, and those of them that continued. */
  readonly trialed: number
  readonly converted: number
  /** Those that ran when the window began, and those of them that were cancelled within it. */
  readonly started: number
  readonly lost: number
}

/** States in which a subscription runs: its trial, if it had one, continued. */
const RUNNING = ['Active', 'PastDue', 'Paused']

/** Adds up the subscriptions by plan; null when only memory can tell which of them the reader sees. */
export function tallySubscriptions(reader: ReadContext, moment: Moment, window: Window): SubscriptionTally[] | null {
  const rows = measured(reader, 'Subscription', moment)
  if (rows === null) return null
  const tallies = new Map<string | null, SubscriptionTally>()
  const add = (plan: string | null, more: Partial<SubscriptionTally>) => {
    const sum: SubscriptionTally = tallies.get(plan) ?? { ...NONE, plan }
    const keys = Object.keys(more) as (keyof typeof NONE)[]
    tallies.set(plan, { ...sum, ...Object.fromEntries(keys.map((key) => [key, sum[key] + more[key]!])) })
  }
  for (const { plan, status, count, quantity, began, trials } of byState(reader, rows, window)) {
    const runs = RUNNING.includes(status)
    add(plan, { count, ...(status !== 'Trialing' && { trialed: trials }) })
    if (status === 'Active') add(plan, { active: count, quantity })
    if (runs) add(plan, { started: began, converted: trials })
  }
  for (const { plan, ran, lost, converted } of cancelled(reader, rows, window)) {
    add(plan, { started: ran, lost, converted })
  }
  return [...tallies.values()]
}

const NONE = { count: 0, active: 0, quantity: 0, trialed: 0, converted: 0, started: 0, lost: 0 }

/** In the order of the index, so that nothing has to be sorted. */
function byState(reader: ReadContext, { from, where, field }: Measured, window: Window) {
  const statement = fragment`
    SELECT ${field('status')} AS status, ${field('plan')} AS plan, count(*), total(coalesce(${field('quantity')}, 1)),
      count(*) FILTER (WHERE ${field('startedAt')} <= ${window.from}),
      count(coalesce(${field('trialEnd')}, ${field('trialStart')}))
    FROM ${from}
    WHERE ${where}
    GROUP BY status, plan`
  return queryRows(reader, statement).map(([status, plan, count, quantity, began, trials]) => {
    return { status, plan, count, quantity, began, trials }
  })
}

/** Of those that ended: which still ran when the window began, which ended within it, and which outlived their trial. */
function cancelled(reader: ReadContext, { from, where, field }: Measured, window: Window) {
  const ended = fragment`coalesce(${field('endedAt')}, ${field('canceledAt')})`
  const ran = fragment`${field('startedAt')} <= ${window.from} AND ${ended} > ${window.from}`
  const statement = fragment`
    SELECT ${field('plan')} AS plan, count(*) FILTER (WHERE ${ran}),
      count(*) FILTER (WHERE ${ran} AND ${ended} <= ${window.to}),
      count(*) FILTER (WHERE ${ended} > ${field('trialEnd')})
    FROM ${from}
    WHERE ${where} AND ${field('status')} = 'Cancelled'
    GROUP BY plan`
  return queryRows(reader, statement).map(([plan, ran, lost, converted]) => ({ plan, ran, lost, converted }))
}

/** The active subscriptions of a moment by their plan then, and what they are at a later one. */
export function tallyRetention(reader: ReadContext, then: Moment, now: Moment) {
  const before = measured(reader, 'Subscription', then, 'a')
  const after = measured(reader, 'Subscription', now, 'b')
  if (before === null || after === null) return null
  const statement = fragment`
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
  return queryRows(reader, statement).map(([plan, nextPlan, quantity, nextQuantity]) => ({
    plan,
    nextPlan,
    quantity,
    nextQuantity,
  }))
}
