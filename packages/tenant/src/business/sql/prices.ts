import { presence } from '../../query/plan/compile.ts'
import { fragment } from '../../query/plan/fragment.ts'
import { sourceOf } from '../../query/plan/source.ts'
import { type Moment, queryRows, type ReadContext } from '../../query/reader.ts'

/** A plan, as far as money is concerned. */
export interface PlanRow {
  readonly id: string
  readonly name: string
  readonly free: boolean
}

/** A price of a plan. */
export interface PriceRow {
  readonly plan: string
  readonly amount: number
  readonly currency: string | null
  readonly interval: string | null
  readonly intervalCount: number
  readonly active: boolean
}

/** The plans that a reader sees, oldest first; null when only memory can tell. */
export function readPlans(reader: ReadContext, moment: Moment): PlanRow[] | null {
  const source = sourceOf(reader, 'Plan', moment, 'e')
  const where = presence({ reader, moment, type: 'Plan', source, narrowed: true })
  if (where === null) return null
  const { data } = source
  const statement = fragment`
    SELECT ${source.id}, ${data} ->> '$.name', ${data} ->> '$.isFree'
    FROM ${source.from}
    WHERE ${where}
    ORDER BY ${source.n}`
  return queryRows(reader, statement).map(([id, name, free]) => ({ id, name, free: free === 1 }))
}

/** The prices of plans that a reader sees, those that are active first, then oldest first. */
export function readPrices(reader: ReadContext, moment: Moment): PriceRow[] | null {
  const source = sourceOf(reader, 'Price', moment, 'e')
  const where = presence({ reader, moment, type: 'Price', source, narrowed: true })
  if (where === null) return null
  const { data } = source
  const statement = fragment`
    SELECT ${data} ->> '$.plan', ${data} ->> '$.amount', ${data} ->> '$.currency', ${data} ->> '$.interval',
      coalesce(${data} ->> '$.intervalCount', 1), coalesce(${data} ->> '$.active', 0) AS active
    FROM ${source.from}
    WHERE ${where} AND ${data} ->> '$.plan' IS NOT NULL
    ORDER BY active DESC, ${source.n}`
  return queryRows(reader, statement).map(([plan, amount, currency, interval, intervalCount, active]) => {
    return { plan, amount, currency, interval, intervalCount, active: active === 1 }
  })
}
