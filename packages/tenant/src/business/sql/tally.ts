import { presence } from '../../query/plan/compile.ts'
import { fragment, plain } from '../../query/plan/fragment.ts'
import { sourceOf } from '../../query/plan/source.ts'
import { type Moment, queryRows, type ReadContext } from '../../query/reader.ts'
import { WHO } from '../../store/measures.ts'
import { fixedNumber } from '../../store/names.ts'
import { measured } from './measured.ts'
import type { Window } from './subscriptions.ts'

/** The deals of one stage and currency. */
export interface DealTally {
  readonly stage: string | null
  readonly currency: string | null
  readonly count: number
  /** How many have a value, and the sum of it. */
  readonly valued: number
  readonly value: number
}

/** Adds up the deals by stage and currency. */
export function tallyDeals(reader: ReadContext, moment: Moment): DealTally[] | null {
  const rows = measured(reader, 'Deal', moment)
  if (rows === null) return null
  const statement = fragment`
    SELECT ${rows.field('stage')} AS stage, ${rows.field('currency')} AS currency, count(*),
      count(${rows.field('value')}), total(${rows.field('value')})
    FROM ${rows.from}
    WHERE ${rows.where}
    GROUP BY stage, currency`
  return queryRows(reader, statement).map(([stage, currency, count, valued, value]) => ({
    stage,
    currency,
    count,
    valued,
    value,
  }))
}

/** How many tickets wait, how long a first answer takes in milliseconds, and how satisfied people are. */
export function tallyTickets(reader: ReadContext, moment: Moment) {
  const rows = measured(reader, 'Ticket', moment)
  if (rows === null) return null
  // Before the answer came the ticket: one that was imported with its answer tells nothing about the wait.
  const statement = fragment`
    SELECT total(coalesce(status, 'Open') NOT IN ('Resolved', 'Closed')), avg(satisfaction),
      avg(CASE WHEN answered >= created THEN answered - created END)
    FROM (
      SELECT ${rows.field('status')} AS status, ${rows.field('satisfaction')} AS satisfaction,
        (julianday(${rows.field('firstResponseAt')}) - 2440587.5) * 86400000.0 AS answered, ${rows.createdAt} AS created
      FROM ${rows.from}
      WHERE ${rows.where})`
  const [open, satisfaction, responseMs] = queryRows(reader, statement)[0] as [number, number | null, number | null]
  return { open, satisfaction, responseMs }
}

/** How many leads there are, how many were converted, and how many are new since a time. */
export function tallyLeads(reader: ReadContext, moment: Moment, since: number) {
  const rows = measured(reader, 'Lead', moment)
  if (rows === null) return null
  const statement = fragment`
    SELECT count(*), total(${rows.field('status')} = 'Converted'), total(${rows.createdAt} > ${since})
    FROM ${rows.from}
    WHERE ${rows.where}`
  const [count, converted, recent] = queryRows(reader, statement)[0] as [number, number, number]
  return { count, converted, recent }
}

/** How many campaigns run. */
export function tallyCampaigns(reader: ReadContext, moment: Moment): number | null {
  const rows = measured(reader, 'Campaign', moment)
  if (rows === null) return null
  const statement = fragment`
    SELECT count(*)
    FROM ${rows.from}
    WHERE ${rows.where} AND ${rows.field('status')} IN ('Active', 'Launched')`
  return queryRows(reader, statement)[0]![0]
}

/** How many events were tracked in a window, and by how many people. */
export function tallyEvents(reader: ReadContext, moment: Moment, { from, to }: Window) {
  const { narrow } = reader
  const source = sourceOf(reader, 'Event', moment, 'e')
  const seen = narrow?.('Event') ? presence({ reader, moment, type: 'Event', source, narrowed: true }) : plain('1')
  if (seen === null) return null
  const statement = fragment`
    SELECT count(*), count(DISTINCT ${plain(WHO.replaceAll('data', 'e.data'))})
    FROM log e INDEXED BY measures_Event
    WHERE e.type = ${plain(String(fixedNumber('Event')))} AND e.data ->> '$.timestamp' > ${from} AND e.data ->> '$.timestamp' <= ${to}
      AND ${moment.asOf === null ? plain('1') : fragment`e.seq <= ${moment.asOf}`} AND ${seen}`
  const [events, users] = queryRows(reader, statement)[0] as [number, number]
  return { events, users }
}
