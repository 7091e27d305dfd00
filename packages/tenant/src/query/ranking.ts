import type { SqlRow } from '../ports.ts'
import { every, fragment, listOf } from './fragment.ts'
import type { Order } from './order.ts'
import type { Plan } from './plan.ts'
import { queryRows, type Ranking, type ReadContext } from './reader.ts'
import { pageRows, ticking } from './select.ts'
import { columns } from './source.ts'

/** So many are kept: more than the first pages of most readers have. */
const KEPT = 200

/** Ranks the matches of a search: the words are looked up once, for the order and for the total. */
export function rank(plan: Plan, order: Order): Ranking {
  const rows = pageRows(plan, order)
  const where = every([...rows.where, ...ticking(plan, rows)])
  const { sql, values } =
    fragment`WITH found AS MATERIALIZED (SELECT ${rows.n} AS n, r.score AS score FROM ${rows.from} WHERE ${where})
  SELECT n, score, (SELECT count(*) FROM found) FROM found ORDER BY score, n DESC LIMIT +${KEPT}`
  const found = plan.scope.reader.sql.rows(sql, ...values)
  return { best: found.map(([n, score]) => [n, score] as const), total: found[0]?.[2] ?? 0 }
}

/** The part of a ranking that is a page; null if the page goes beyond what is kept. */
export function pageOfRanking({ best, total }: Ranking, offset: number, limit: number): Ranking['best'] | null {
  return offset + limit <= best.length || best.length === total ? best.slice(offset, offset + limit) : null
}

/** The rows of a page of a ranking, as `select` gives them. */
export function rankedRows(reader: ReadContext, { scope }: Plan, page: Ranking['best']): SqlRow[] {
  const { source } = scope
  const numbers = page.map(([n]) => n)
  const read = fragment`SELECT ${columns(source)} FROM ${source.from} WHERE ${source.n} IN ${listOf(numbers)}`
  const rows = new Map(queryRows(reader, read).map((row) => [row[0], row]))
  return page.map(([n, score]) => [...rows.get(n)!, score])
}
