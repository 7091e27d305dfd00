import { EVERYTHING, type Filter, touches } from '@tildebase/nouns'
import { lastSeq } from '../../store/log/log.ts'
import { every, fragment, listOf } from '../plan/fragment.ts'
import type { Plan } from '../plan/plan.ts'
import { countRows, ticking } from '../plan/select.ts'
import { hiddenTypes, isLogged } from '../plan/source.ts'
import type { ReadContext } from '../reader.ts'

/** Counts the rows of a plan. */
export function counted(plan: Plan): number {
  if (isLogged(plan.scope.reader, plan.scope.type) && plan.conditions.length === 0) return countedEvents(plan)
  const rows = countRows(plan)
  const { sql, values } =
    // The limit keeps SQLite from joining the states where no condition reads them.
    fragment`SELECT count(*) FROM (SELECT 1 FROM ${rows.from} WHERE ${every([...rows.where, ...ticking(plan, rows)])} LIMIT -1)`
  return plan.scope.reader.sql.rows(sql, ...values)[0]![0]
}

/** The log has no gaps, so only what is hidden has to be counted. */
function countedEvents({ scope: { reader, moment } }: Plan): number {
  const last = moment.asOf ?? lastSeq(reader.sql)
  const hidden = listOf(hiddenTypes(reader))
  const { sql, values } = fragment`SELECT count(*) FROM log WHERE type IN ${hidden} AND seq <= ${last}`
  return last - reader.sql.rows(sql, ...values)[0]![0]
}

/** What a total depends on. */
export interface Counted {
  readonly type: string
  readonly filter?: Filter | undefined
  readonly asOf?: number | null | undefined
}

/** The total of a question that was counted before, as long as it holds. */
export function knownTotal(reader: ReadContext, query: Counted, asked: string): number | undefined {
  return memorable(reader, query) ? reader.totals?.get(asked) : undefined
}

/** Keeps a total for the next time that it is asked for. */
export function remembered(
  reader: ReadContext,
  query: Counted,
  asked: string,
  known: number | undefined,
  total: number,
): number {
  if (known === undefined && memorable(reader, query)) reader.totals?.set(asked, typesOf(query), total)
  return total
}

/** The Event collection changes with every type, and everyone sees another part of it. */
function memorable(reader: ReadContext, query: Counted): boolean {
  return !typesOf(query).some((type) => isLogged(reader, type))
}

/** What is asked for, in whatever order, with the rows that are seen of every type involved. */
export function askedOf(reader: ReadContext, query: Counted): string {
  const { type, filter = EVERYTHING, asOf = null } = query
  const seen = reader.narrow ? typesOf(query).map((one) => reader.narrow!(one)) : null
  return JSON.stringify([type, asOf, filter, seen])
}

/** The types that an answer depends on. */
export function typesOf({ type, filter = EVERYTHING }: Counted): string[] {
  return [type, ...touches(filter)]
}
