import { EVERYTHING, type Filter, type SortKey, touches } from '@tildebase/nouns'
import type { SqlRow } from '../../ports.ts'
import { presentOf, type Stored } from '../../store/entities.ts'
import { lastSeq } from '../../store/log/log.ts'
import { isRelative } from '../parameters/filter.ts'
import { DEFAULT_LIMIT, limitOf, offsetOf } from '../parameters/limits.ts'
import { type Fragment, fragment } from '../plan/fragment.ts'
import { momentOf, PRESENT } from '../plan/moment.ts'
import { after, type CursorPosition, type Order, orderOf, positionOf } from '../plan/order.ts'
import { type Plan, plan as planOf } from '../plan/plan.ts'
import { pageRows, readRows, select, toStored } from '../plan/select.ts'
import { columns, isLogged, sourceOf } from '../plan/source.ts'
import { type KeptOrder, queryRows, type ReadContext, within } from '../reader.ts'
import { positionOfWalk, rank, walkAt, walkOn } from '../words/ranking.ts'
import { indexTextFor } from '../words/text.ts'
import { digest, readCursor, writeCursor } from './cursor.ts'
import { embed } from './include.ts'
import { keptOrder } from './kept-order.ts'
import { chosen } from './memory.ts'
import { askedOf, type Counted, counted, knownTotal, remembered, typesOf } from './totals.ts'

/** A question about the entities of a type. */
export interface Query {
  readonly type: string
  readonly filter?: Filter | undefined
  readonly sort?: readonly SortKey[] | undefined
  /** 1 to 100; 25 when absent. */
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  readonly cursor?: string | null | undefined
  /** The state as of this seq; the present when absent. */
  readonly asOf?: number | null | undefined
  /** Relations to embed: `organization`, `organization.contacts`. */
  readonly include?: readonly string[] | undefined
  /** False if the total is not requested. */
  readonly total?: boolean | undefined
}

/** A page of an answer. `total` is absent when it was not asked for. */
export interface Page {
  readonly results: readonly Stored[]
  readonly total?: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** Finds the entities that pass a filter: one page of them, in a total order. */
export function find(reader: ReadContext, query: Query, ready?: PreparedQuery | null): Page {
  limitOf(query.limit ?? DEFAULT_LIMIT)
  offsetOf(query.offset ?? 0)
  return findRows(reader, query, ready)
}

/** The same without a bound on the limit, for exports and other readers of whole collections. */
export function findRows(reader: ReadContext, query: Query, ready?: PreparedQuery | null): Page {
  indexTextFor(reader, query.filter)
  // What was planned before may have to be folded for again.
  if (ready) momentOf(reader, query.asOf)
  const { plan, order, asked, question } = ready ?? prepared(reader, query)
  return within(reader, () => {
    const { limit = DEFAULT_LIMIT, offset = 0 } = query
    if (order.by === 'rank') return pageByRank(reader, query, { plan, order, asked, question })
    const place = query.cursor ? placeFrom(order, question, query.cursor) : null
    const kept = keptPage(reader, query, { plan, order, asked, question }, place)
    if (kept) return kept
    const known = query.total === false ? undefined : knownTotal(reader, query, asked)
    const inOrder = order.by === 'creation' && (query.total === false || known !== undefined)
    const extent = { descending: order.descending, after: place?.[0] ?? null, enough: offset + limit + 1 }
    const only = chosen(plan, inOrder ? extent : undefined)
    const rows = ready?.statement
      ? queryRows(reader, ready.statement)
      : rowsOf(plan, order, only, place, limit + 1, offset)
    const hasMore = rows.length > limit
    const whole = place === null && !hasMore && (rows.length > 0 || offset === 0)
    const total = () => (whole ? offset + rows.length : (known ?? (only ? only.length : counted(plan))))
    return pageOf(reader, query, { plan, order, asked, question }, rows, () =>
      remembered(reader, query, asked, known, total()),
    )
  })
}

/** A page of an order that was sorted for an earlier one; null if that was not kept, or does not reach so far. */
export function keptPage(reader: ReadContext, query: Query, made: Prepared, place: CursorPosition | null): Page | null {
  if (made.order.by === 'creation') return null
  const { asked } = made
  const kept = keptOrder(reader, { asked, order: made.order, types: typesOf(query) })
  const known = query.total === false ? null : knownTotal(reader, query, asked)
  if (!kept || known === undefined) return null
  const bare: Plan = { ...made.plan, conditions: [], residual: [], match: null }
  const order: Order = made.order.by === 'index' ? { ...made.order, by: 'values' } : made.order
  const read = (numbers: readonly number[]) => rowsOf(bare, order, numbers, null, numbers.length, 0)
  const { limit = DEFAULT_LIMIT, offset = 0 } = query
  const from = beginIn(kept, place, (n) => positionOf(order, toStored(reader, query.type, read([n])[0]!))) + offset
  const enough = from + limit + 1 <= kept.numbers.length || kept.isWhole
  if (from < offset || !enough) return null
  return pageOf(reader, query, made, read(kept.numbers.slice(from, from + limit + 1)), () => known!)
}

/** Where a page begins in an order that is kept; -1 if its place is not in it, or its entity has other values since. */
function beginIn(kept: KeptOrder, place: CursorPosition | null, positionAt: (n: number) => CursorPosition): number {
  const text = place && JSON.stringify(place)
  if (text === kept.after) return 0
  const at = place === null ? -1 : kept.numbers.indexOf(place[0])
  return at >= 0 && JSON.stringify(positionAt(kept.numbers[at]!)) === text ? at + 1 : -1
}

/** A page of the matches of a search, by relevance. */
function pageByRank(reader: ReadContext, query: Query, made: Prepared): Page {
  const { plan, order, asked, question } = made
  const { limit = DEFAULT_LIMIT, offset = 0 } = query
  const walk = query.cursor
    ? walkAt(readCursor(question, query.cursor, 2))
    : { until: lastSeq(reader.sql), passed: [], last: null }
  const only = chosen(plan)
  const isKept = only === null && !isLogged(reader, query.type)
  const known = isKept ? reader.rankings?.get(asked) : undefined
  const ranking = known ?? rank(plan, order, only)
  if (isKept && !known) reader.rankings?.set(asked, typesOf(query), ranking)
  const { rows, next } = walkOn(plan, ranking, only, walk, offset, limit)
  const total = () => remembered(reader, query, asked, undefined, ranking.total)
  return pageOf(reader, query, made, rows, total, () => positionOfWalk(next))
}

/** The page of a question from its rows, of which there is one more than its limit when there are more. */
export function pageOf(
  reader: ReadContext,
  query: Query,
  { plan, order, question }: Prepared,
  rows: readonly SqlRow[],
  total: () => number,
  position: (last: Stored) => CursorPosition = (last) => positionOf(order, last),
): Page {
  const { type, limit = DEFAULT_LIMIT } = query
  const hasMore = rows.length > limit
  const results = rows.slice(0, limit).map((row) => toStored(reader, type, row))
  return {
    results: embed(reader, type, results, query.include ?? [], plan.scope.moment),
    ...(query.total !== false && { total: total() }),
    hasMore,
    cursor: hasMore ? writeCursor(question, position(results.at(-1)!)) : null,
  }
}

/** A question that is planned. */
export interface Prepared {
  readonly plan: Plan
  readonly order: Order
  /** What is asked for, whatever the order; and a digest of it with the order, as cursors know it. */
  readonly asked: string
  readonly question: string
}

/** A question that is planned, with the statement of its first page if that holds as long as the types stay as they are. */
export interface PreparedQuery extends Prepared {
  readonly statement: Fragment | null
}

/**
 * Makes a question ready to be asked. Only with a statement may it be asked again: without one its best way depends on
 * more than the types, on the data, the time, the caller, or the start of a page.
 */
export function prepareQuery(reader: ReadContext, query: Query): PreparedQuery {
  const { type, filter = EVERYTHING, limit = DEFAULT_LIMIT, offset = 0, asOf = null } = query
  const made = prepared(reader, query)
  // A time at or after the newest event is another moment with the next one.
  const moves = asOf !== null && asOf >= lastSeq(reader.sql)
  const varies = isLogged(reader, type) || query.cursor || moves || reader.narrow?.(type)
  if (varies || touches(filter).size > 0) return { ...made, statement: null }
  const { plan, order, asked } = made
  const [condition, ...others] = plan.conditions
  const isDirect = others.length === 0 && (condition === undefined || condition.index?.equality === true)
  if (!isDirect || plan.match !== null || plan.residual.length > 0 || order.by !== 'creation' || isRelative(asked)) {
    return { ...made, statement: null }
  }
  const rows = pageRows(plan, order)
  return { ...made, statement: rows.halved ? null : select(plan, rows, [], limit + 1, offset) }
}

export function prepared(reader: ReadContext, query: Query): Prepared {
  const plan = planOf(reader, query.type, query.filter ?? EVERYTHING, momentOf(reader, query.asOf))
  const asked = askedOf(reader, query)
  return { plan, order: orderOf(plan, query.sort ?? []), asked, question: questionOf(asked, query) }
}

export function rowsOf(
  plan: Plan,
  order: Order,
  only: readonly number[] | null,
  place: CursorPosition | null,
  limit: number,
  offset: number,
): SqlRow[] {
  const from = pageRows(plan, order, only)
  const beyond = place ? [after(plan.scope, from.order, place, from.n)] : []
  return readRows(plan, from, beyond, limit, offset)
}

/** How many entities pass a filter. */
export function count(reader: ReadContext, query: Counted): number {
  const asked = askedOf(reader, query)
  const known = knownTotal(reader, query, asked)
  if (known !== undefined) return known
  indexTextFor(reader, query.filter)
  const moment = momentOf(reader, query.asOf)
  const total = within(reader, () => {
    const plan = planOf(reader, query.type, query.filter ?? EVERYTHING, moment)
    return chosen(plan)?.length ?? counted(plan)
  })
  return remembered(reader, query, asked, undefined, total)
}

/** One entity by its id, or undefined when it is not there at that moment. */
export function get(
  reader: ReadContext,
  type: string,
  id: string,
  options: Pick<Query, 'asOf' | 'include'> = {},
): Stored | undefined {
  const isRecord = isLogged(reader, type)
  if (reader.narrow?.(type) || (isRecord && reader.narrow)) {
    return findRows(reader, { ...options, type, filter: withId(id), limit: 1, total: false }).results[0]
  }
  if (!isRecord && (options.asOf ?? null) === null) {
    const row = presentOf(reader.sql, type, id)
    return row && embed(reader, type, [row], options.include ?? [], PRESENT)[0]
  }
  const moment = momentOf(reader, options.asOf)
  return within(reader, () => {
    const source = sourceOf(reader, type, moment, 'e')
    const found = fragment`SELECT ${columns(source)} FROM ${source.from} WHERE ${source.id} = ${id} AND ${source.found}`
    const rows = queryRows(reader, found).map((row) => toStored(reader, type, row))
    return embed(reader, type, rows, options.include ?? [], moment)[0]
  })
}

/** The filter that one entity passes. */
export function withId(id: string): Filter {
  return { op: 'eq', path: ID, value: id }
}

/** The filter that these entities pass. */
export function withIds(ids: readonly string[]): Filter {
  return { op: 'in', path: ID, value: ids }
}

const ID = { text: '$id', hops: [], field: '$id', into: [] }

/** The question that a cursor belongs to. Operands that are relative to the time count as they were said, not as they were then. */
function questionOf(asked: string, { sort = [] }: Query): string {
  const order = sort.map(({ path, descending }) => [path.text, descending])
  const said = isRelative(asked)
    ? JSON.stringify(JSON.parse(asked), (_, part) => (part?.said === undefined ? part : { ...part, value: null }))
    : asked
  return digest(`${said} ${JSON.stringify(order)}`)
}

export function placeFrom(order: Order, question: string, cursor: string): CursorPosition {
  return readCursor(question, cursor, 'keys' in order ? order.keys.length : 0)
}
