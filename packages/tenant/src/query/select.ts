import type { Stored } from '../store/entities.ts'
import type { FactsTest } from './facts.ts'
import { every, type Fragment, fragment, join, listOf, plain } from './fragment.ts'
import { type Order, orderBy } from './order.ts'
import type { Condition, Plan } from './plan.ts'
import { factsAt } from './scope.ts'
import { columns } from './source.ts'

/** FROM and WHERE of a statement about the rows of a plan, and how their order is written. */
export interface Rows {
  readonly from: Fragment
  readonly where: readonly Fragment[]
  /** How the rows are reached, for those who ask. */
  readonly through: string
}

const F = plain('f')
/** A part of the index that is this small is always worth starting from. */
const FEW = 2_000

/** The rows of a plan for a page in an order; the order comes back as the statement must write it. */
export function pageRows(
  plan: Plan,
  order: Order,
  only: readonly number[] | null = null,
): Rows & { readonly order: Order } {
  if (order.by === 'rank') return { ...ranked(plan, only), order }
  const best = only === null ? smallest(plan) : null
  if (order.by === 'index' && (best === null || best.size >= FEW)) return { ...along(plan, order.field, only), order }
  const written: Order = order.by === 'index' ? { ...order, by: 'values' } : order
  const inOrder = best?.facts.equality === true && plan.scope.moment.asOf === null
  if (best && (best.size < FEW || inOrder || order.by === 'values')) return { ...driven(plan, best), order: written }
  return { ...scanned(plan, only), order: written }
}

/** The rows of a plan where the order does not matter. */
export function countRows(plan: Plan): Rows {
  const best = smallest(plan)
  if (best && plan.conditions.length === 1) return indexOnly(plan, best.facts)
  return best && (best.size < FEW || best.facts.equality) ? driven(plan, best) : scanned(plan, null)
}

/** The statement for a page of rows that meet some conditions more. */
export function select(
  plan: Plan,
  rows: Rows & { readonly order: Order },
  more: readonly Fragment[],
  limit: number,
  offset: number,
): Fragment {
  const { order } = rows
  const score = plain(order.by === 'rank' ? 'r.score' : 'NULL')
  const where = every([...rows.where, ...more, ...ticking(plan)])
  return fragment`SELECT ${columns(plan.scope.source)}, ${score}
  FROM ${rows.from}
  WHERE ${where}
  ORDER BY ${orderBy(plan.scope, order)}
  LIMIT ${limit} OFFSET ${offset}`
}

/** A row of `select` as what is stored. */
export function toStored(type: string, row: readonly any[]): Stored {
  const [n, id, version, createdAt, createdBy, updatedAt, data] = row
  return { n, id, type, version, createdAt, createdBy, updatedAt, data }
}

/** The host's way to stop a statement that runs too long; left out where every row is an index entry. */
export function ticking(plan: Plan): Fragment[] {
  return plan.scope.reader.sql.tick === '' ? [] : [plain(plan.scope.reader.sql.tick)]
}

interface Driver {
  readonly condition: Condition
  readonly facts: FactsTest
  /** How many rows of the index it has, counted to FEW at most. */
  readonly size: number
}

/** The condition that the index narrows down the most. */
function smallest(plan: Plan): Driver | null {
  const able = plan.conditions.flatMap((condition) =>
    condition.facts?.single ? [{ condition, facts: condition.facts }] : [],
  )
  const unique = able.find(({ facts }) => facts.unique)
  if (unique) return { ...unique, size: 1 }
  const sized = able.map((one) => ({ ...one, size: sizeOf(plan, one.facts) }))
  return sized.reduce<Driver | null>((least, one) => (least === null || one.size < least.size ? one : least), null)
}

function sizeOf({ scope }: Plan, facts: FactsTest): number {
  const { sql, values } =
    fragment`SELECT count(*) FROM (SELECT 1 FROM facts f WHERE ${factsWhere(scope, facts)} LIMIT ${FEW})`
  return scope.reader.sql.rows(sql, ...values)[0]![0]
}

function factsWhere(scope: Plan['scope'], facts: FactsTest): Fragment {
  return fragment`f.field = ${facts.field} AND ${facts.test(F)} AND ${factsAt(scope.moment, F)}`
}

/** From the index to the entities. */
function driven(plan: Plan, { condition, facts }: Driver): Rows {
  const { scope } = plan
  const others = plan.conditions.filter((one) => one !== condition).map((one) => one.sql)
  return {
    from: fragment`facts f CROSS JOIN ${scope.source.from}`,
    where: [factsWhere(scope, facts), fragment`${scope.source.n} = f.n`, scope.source.where, ...others],
    through: facts.equality ? 'one value of an indexed field' : 'a range of an indexed field',
  }
}

/** The index alone answers how many there are. */
function indexOnly({ scope }: Plan, facts: FactsTest): Rows {
  return { from: plain('facts f'), where: [factsWhere(scope, facts)], through: 'the index alone' }
}

/** Along the index of the field that is sorted by. What is asked of the same field becomes a range of it. */
function along({ scope, conditions }: Plan, field: number, only: readonly number[] | null): Rows {
  const tests = conditions.map((one) => (one.facts?.field === field && one.facts.single ? one.facts.test(F) : one.sql))
  return {
    from: fragment`facts f CROSS JOIN ${scope.source.from}`,
    where: [
      fragment`f.field = ${field} AND ${factsAt(scope.moment, F)} AND ${scope.source.n} = f.n`,
      scope.source.where,
      ...tests,
      ...among(scope, only),
    ],
    through: 'the order of an indexed field',
  }
}

function ranked({ scope, conditions, match }: Plan, only: readonly number[] | null): Rows {
  const rowid = plain(scope.type === 'Event' ? '-rowid' : 'rowid')
  const [, ...others] = conditions
  return {
    from: fragment`(SELECT ${rowid} AS n, rank AS score FROM text WHERE text MATCH ${match}) r CROSS JOIN ${scope.source.from}`,
    where: [
      fragment`${scope.source.n} = r.n`,
      scope.source.where,
      ...others.map((one) => one.sql),
      ...among(scope, only),
    ],
    through: 'the words',
  }
}

function scanned({ scope, conditions }: Plan, only: readonly number[] | null): Rows {
  const tests = conditions.map((one) => one.sql)
  return {
    from: scope.source.from,
    where: [scope.source.where, ...tests, ...among(scope, only)],
    through: only ? 'memory' : 'every entity of the type',
  }
}

/** At most this many numbers in one bound value, which a Durable Object keeps below 2 MB. */
const MOST_IN_ONE = 150_000

/** Rows that memory has chosen. */
export function among({ source }: Plan['scope'], only: readonly number[] | null): Fragment[] {
  if (only === null) return []
  const lists: Fragment[] = []
  for (let start = 0; start === 0 || start < only.length; start += MOST_IN_ONE) {
    lists.push(fragment`${source.n} IN ${listOf(only.slice(start, start + MOST_IN_ONE))}`)
  }
  return [fragment`(${join(lists, ' OR ')})`]
}
