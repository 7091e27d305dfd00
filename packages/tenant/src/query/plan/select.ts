import type { SqlRow } from '../../ports.ts'
import type { Stored } from '../../store/entities.ts'
import { OPEN } from '../../store/layout.ts'
import { nameOf } from '../../store/names.ts'
import { queryRows, type ReadContext } from '../reader.ts'
import { matches } from '../words/text.ts'
import { type FieldIndexTest, fieldIndexWhere } from './field-index.ts'
import { every, type Fragment, fragment, join, listOf, plain } from './fragment.ts'
import { type Order, orderBy } from './order.ts'
import type { Condition, Plan } from './plan.ts'
import { fieldIndexAt, type Scope } from './scope.ts'
import { columns, isLogged } from './source.ts'

/** FROM and WHERE of a statement about the rows of a plan. */
export interface Rows {
  readonly from: Fragment
  readonly where: readonly Fragment[]
  /** The column that holds the order of creation, where its index is. */
  readonly n: Fragment
  /** How the rows are reached, for those who ask. */
  readonly through: string
  /** The conditions on the index, if there are no others, so that no row has to be read. */
  readonly index?: Fragment
}

/** Rows with the order as their statement must write it. */
export interface OrderedRows extends Rows {
  readonly order: Order
  /** True if rows deleted since and rows that still exist are read separately: each half is sorted. */
  readonly halved: boolean
}

const F = plain('f')
/** A part of the index that is this small is always worth starting from. */
const FEW = 2_000

/** The rows of a plan for a page in an order. */
export function pageRows(plan: Plan, order: Order, only: readonly number[] | null = null): OrderedRows {
  if (order.by === 'rank') return { ...ranked(plan, only), order, halved: false }
  const best = only === null ? smallest(plan) : null
  const isLarge = best === null || best.size() >= FEW
  const few = only === null && isLarge ? fewOfBranches(plan) : null
  if (order.by === 'index' && isLarge && few === null) {
    return { ...along(plan, order.field, only), order, halved: false }
  }
  const written: Order = order.by === 'index' ? { ...order, by: 'values' } : order
  if (few) return { ...few, order: written, halved: false }
  const past = plan.scope.moment.asOf !== null
  const inOrder = best?.facts.equality === true && (!past || plan.conditions.length === best.conditions.length)
  if (best && (inOrder || order.by === 'values' || best.size() < FEW)) {
    return { ...driven(plan, best), order: written, halved: false }
  }
  const halved = past && order.by === 'creation' && !isLogged(plan.scope.reader, plan.scope.type)
  return { ...scanned(plan, only), order: written, halved }
}

/** The rows of a plan where the order does not matter; `read` when more than their number is asked for. */
export function countRows(plan: Plan, read = false): Rows {
  const best = smallest(plan)
  if (best && plan.conditions.length === best.conditions.length && !read) return indexOnly(plan, best.facts)
  if (best && (best.facts.equality || best.size() < FEW)) return driven(plan, best)
  return fewOfBranches(plan) ?? (plan.match === null ? scanned(plan, null) : ranked(plan, null))
}

/** The rows of a plan from one place in the order of creation up to another, with an index if it has that order. */
export function partRows(plan: Plan, from: number, end: number): Rows {
  const best = smallest(plan)
  const rows = best?.facts.equality ? driven(plan, best) : scanned(plan, null, plan.scope.source.found)
  return { ...rows, where: [...rows.where, fragment`${rows.n} >= ${from} AND ${rows.n} < ${end}`] }
}

/** Reads a page of rows that meet some conditions more. */
export function readRows(
  plan: Plan,
  rows: OrderedRows,
  more: readonly Fragment[],
  limit: number,
  offset: number,
): SqlRow[] {
  const read = (conditions: readonly Fragment[], most: number, skip: number) => {
    return queryRows(plan.scope.reader, select(plan, rows, conditions, most, skip))
  }
  if (!rows.halved) return read(more, limit, offset)
  const gone = fragment`${plain(plan.scope.source.alias)}.gone`
  const halves = [0, 1].flatMap((half) => read([fragment`${gone} = ${half}`, ...more], offset + limit, 0))
  const sign = rows.order.descending ? -1 : 1
  return halves.sort((a, b) => sign * (a[0] - b[0])).slice(offset, offset + limit)
}

/** The statement for a page of rows that meet some conditions more. */
export function select(
  plan: Plan,
  rows: OrderedRows,
  more: readonly Fragment[],
  limit: number,
  offset: number,
): Fragment {
  const { scope } = plan
  const { order } = rows
  const score = plain(order.by === 'rank' ? 'r.score' : 'NULL')
  // The plus hides the numbers from SQLite: it would prepare the statement again for every one of them.
  const page = fragment`ORDER BY ${orderBy(scope, order, rows.n)}
  LIMIT +${limit} OFFSET +${offset}`
  const where = every([...rows.where, ...more, ...ticking(plan, rows)])
  if (!isSorted(plan, rows))
    return fragment`SELECT ${columns(scope.source)}, ${score} FROM ${rows.from} WHERE ${where} ${page}`
  const picked =
    rows.index && order.by === 'creation'
      ? bothHalves(order, [rows.index, ...more], limit, offset)
      : fragment`SELECT ${scope.source.n} AS n, ${score} AS score FROM ${rows.from} WHERE ${where} ${page}`
  return fragment`SELECT ${columns(scope.source)}, r.score
  FROM (${picked}) r CROSS JOIN ${scope.source.from}
  WHERE ${scope.source.n} = r.n
  ORDER BY ${orderBy(scope, order, scope.source.n)}`
}

/** What still holds lies in the index in the order of creation; only what has ended since must be sorted. */
function bothHalves(order: Order, where: readonly Fragment[], limit: number, offset: number): Fragment {
  const direction = plain(order.descending ? 'DESC' : 'ASC')
  const half = (until: Fragment) => fragment`SELECT n FROM (
    SELECT f.n FROM field_index f WHERE ${every([...where, until])} ORDER BY f.n ${direction} LIMIT +${limit + offset})`
  return fragment`SELECT n, NULL AS score
  FROM (${half(fragment`f.until = ${OPEN}`)} UNION ALL ${half(fragment`f.until < ${OPEN}`)})
  ORDER BY n ${direction}
  LIMIT +${limit} OFFSET +${offset}`
}

/** Whether SQLite has to sort what it finds: it then sorts numbers, and reads only the rows of the page. */
function isSorted({ scope }: Plan, { order, index }: OrderedRows): boolean {
  if (order.by === 'creation') return index !== undefined && scope.moment.asOf !== null
  return order.by === 'rank' || (order.by === 'values' && order.keys.length <= MOST_SORTED)
}

/** With more keys a statement could have more values than a Durable Object allows. */
const MOST_SORTED = 4

/** A row of `select` as what is stored. */
export function toStored({ sql }: ReadContext, type: string, row: Readonly<SqlRow>): Stored {
  const [ordinal, id, version, createdAt, creator, updatedAt, data] = row
  // A test in memory that needs no creator reads none.
  const createdBy = creator === null ? creator : nameOf(sql, creator)
  return { ordinal, id, type, version, createdAt, createdBy, updatedAt, data }
}

/** The host's way to stop a statement that runs too long; left out where rows are not looked into. */
export function ticking(
  { scope, conditions, residual }: Plan,
  { index, order }: Pick<Rows, 'index'> & { readonly order?: Order } = {},
): Fragment[] {
  const { tick } = scope.reader.sql
  const isSorted = order?.by === 'values'
  const quick =
    index !== undefined || (conditions.length + residual.length === 0 && scope.moment.asOf === null && !isSorted)
  return tick === '' || quick ? [] : [plain(tick)]
}

interface Driver {
  readonly conditions: readonly Condition[]
  readonly facts: FieldIndexTest
  /** How many rows of the index it has, counted to FEW at most. */
  readonly size: () => number
}

/** The conditions on one field that the index narrows down the most. */
function smallest(plan: Plan): Driver | null {
  const able = plan.conditions.filter((condition) => condition.index?.single)
  const drivers = [...Map.groupBy(able, (condition) => condition.index!.field).values()].map((conditions) => {
    const tests = conditions.map((condition) => condition.index!)
    const unique = tests.some((facts) => facts.unique)
    const facts: FieldIndexTest = {
      ...tests[0]!,
      test: (f) => every(tests.map((one) => one.test(f))),
      equality: tests.some((one) => one.equality),
    }
    return { conditions, facts, size: once(() => (unique ? 1 : sizeOf(plan.scope, facts))) }
  })
  return drivers.reduce<Driver | null>(
    (least, one) => (least === null || one.size() < least.size() ? one : least),
    null,
  )
}

/** Counting is delayed until the count is needed. */
function once(count: () => number): () => number {
  let counted: number | undefined
  return () => {
    counted ??= count()
    return counted
  }
}

function sizeOf(scope: Scope, facts: FieldIndexTest): number {
  const { sql, values } = fragment`SELECT count(*)
  FROM (SELECT 1 FROM field_index f WHERE ${fieldIndexWhere(scope, facts, F)} LIMIT +${FEW})`
  return scope.reader.sql.rows(sql, ...values)[0]![0]
}

/** From the index to the entities. */
function driven(plan: Plan, { conditions, facts }: Driver): Rows {
  const { scope } = plan
  const others = plan.conditions.filter((one) => !conditions.includes(one)).map((one) => one.sql)
  const index = fieldIndexWhere(scope, facts, F)
  return {
    from: fragment`field_index f CROSS JOIN ${scope.source.from}`,
    where: [index, fragment`${scope.source.n} = f.n`, scope.source.found, ...others],
    n: plain('f.n'),
    through: facts.equality ? 'one value of an indexed field' : 'a range of an indexed field',
    ...(facts.equality && others.length === 0 && { index }),
  }
}

/** From the index to the few entities that an `or` can be met by; null if they are not few. */
function fewOfBranches({ scope, conditions }: Plan): Rows | null {
  const branches = conditions.find((one) => one.branches)?.branches
  if (!branches || branches.reduce((size, facts) => size + (size < FEW ? sizeOf(scope, facts) : 0), 0) >= FEW)
    return null
  const found = branches.map(
    (facts) => fragment`SELECT f.n FROM field_index f WHERE ${fieldIndexWhere(scope, facts, F)}`,
  )
  return {
    from: fragment`(${join(found, ' UNION ')}) f CROSS JOIN ${scope.source.from}`,
    where: [fragment`${scope.source.n} = f.n`, scope.source.found, ...conditions.map((one) => one.sql)],
    n: plain('f.n'),
    through: 'several indexed fields',
  }
}

/** The index alone answers how many there are. */
function indexOnly({ scope }: Plan, facts: FieldIndexTest): Rows {
  const index = fieldIndexWhere(scope, facts, F)
  return { from: plain('field_index f'), where: [index], n: plain('f.n'), through: 'the index alone', index }
}

/** Along the index of the field that is sorted by. What is asked of the same field becomes a range of it. */
function along({ scope, conditions }: Plan, field: number, only: readonly number[] | null): Rows {
  const { source, moment } = scope
  const tests = conditions.map((one) => (one.index?.field === field && one.index.single ? one.index.test(F) : one.sql))
  // The plus hides from SQLite that `until` is constant: it would drop it from the order, and then sort once more.
  const at = moment.asOf === null ? fragment`+f.until = ${OPEN}` : fieldIndexAt(moment, F)
  const index = fragment`f.field = ${field} AND ${at} AND ${source.n} = f.n`
  return {
    from: fragment`field_index f CROSS JOIN ${source.from}`,
    where: [index, source.found, ...tests, ...among(scope, only)],
    n: plain('f.n'),
    through: 'the order of an indexed field',
  }
}

function ranked({ scope, conditions, words, match }: Plan, only: readonly number[] | null): Rows {
  const { source } = scope
  const [, ...others] = conditions
  return {
    from: fragment`(${matches(scope, words, match)}) r CROSS JOIN ${source.from}`,
    where: [fragment`${source.n} = r.n`, source.where, ...others.map((one) => one.sql), ...among(scope, only)],
    n: source.n,
    through: 'the words',
  }
}

function scanned({ scope, conditions }: Plan, only: readonly number[] | null, there = scope.source.where): Rows {
  return {
    from: scope.source.from,
    where: [there, ...conditions.map((one) => one.sql), ...among(scope, only)],
    n: scope.source.n,
    through: only ? 'memory' : 'every entity of the type',
  }
}

/** At most this many numbers in one bound value, which a Durable Object keeps below 2 MB. */
const MOST_IN_ONE = 150_000

/** Rows that memory has chosen. */
export function among({ source }: Scope, only: readonly number[] | null): Fragment[] {
  if (only === null) return []
  const lists: Fragment[] = []
  for (let start = 0; start === 0 || start < only.length; start += MOST_IN_ONE) {
    lists.push(fragment`${source.n} IN ${listOf(only.slice(start, start + MOST_IN_ONE))}`)
  }
  return [fragment`(${join(lists, ' OR ')})`]
}
