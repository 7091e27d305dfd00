import type { Field, Json } from '@tildebase/nouns'
import type { Noun } from '../../values/noun.ts'
import { dayName, periodOf } from './periods.ts'

export type Query = { readonly [field: string]: Json }

/** The query as the service takes it: with the periods as they are today. */
export function resolved(query: Query, noun: Noun, now = new Date()): Query {
  const entries = Object.entries(query).map(([name, value]): [string, Json] => {
    if (name === '$and' || name === '$or')
      return [name, (value as readonly Query[]).map((part) => resolved(part, noun, now))]
    if (!isQuery(value) || typeof value.$during !== 'string') return [name, value]
    const period = periodOf(value.$during, now)
    const isDay = kindOf(noun, name) === 'date'
    const moment = (date: Date) => (isDay ? dayName(date) : date.toISOString())
    return [name, period === null ? value : { $gte: moment(period.from), $lt: moment(period.to) }]
  })
  return Object.fromEntries(entries)
}

/** The kind of a field, also of those that every entity has. */
export function kindOf(noun: Noun, field: string): Field['kind'] {
  if (field === '$createdAt' || field === '$updatedAt') return 'datetime'
  return noun.fields[field]?.kind ?? (field === '$version' ? 'number' : 'string')
}

/** Whether a value is a query or an operand with operators. */
export function isQuery(value: Json): value is Query {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
