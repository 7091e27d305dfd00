import { EVERYTHING, type Filter } from '@tildebase/nouns'
import type { Query } from '../answer/find.ts'
import { DEFAULT_LIMIT } from '../parameters/limits.ts'
import type { ReadContext } from '../reader.ts'
import { momentOf } from './moment.ts'
import { orderOf } from './order.ts'
import { plan as planOf } from './plan.ts'
import { pageRows, select } from './select.ts'

/** How a question would be answered: by which way, with which statement, and what is left to memory. */
export function explain(reader: ReadContext, query: Query) {
  const plan = planOf(reader, query.type, query.filter ?? EVERYTHING, momentOf(reader, query.asOf))
  const order = orderOf(plan, query.sort ?? [])
  const rows = pageRows(plan, order, plan.residual.length > 0 ? [] : null)
  const { sql, values } = select(plan, rows, [], query.limit ?? DEFAULT_LIMIT, query.offset ?? 0)
  const steps = reader.sql.rows(`EXPLAIN QUERY PLAN ${sql}`, ...values).map((step) => step[3] as string)
  return {
    through: rows.through,
    order: order.by,
    inMemory: plan.residual.map((part) => ('filter' in part ? describe(part.filter) : 'visible records')),
    steps,
    sql,
  }
}

function describe(filter: Filter): string {
  if ('path' in filter) return `${filter.path.text} ${filter.op}`
  return filter.op === 'text'
    ? 'text'
    : filter.op === 'not'
      ? `not (${describe(filter.of)})`
      : filter.of.map(describe).join(` ${filter.op} `)
}
