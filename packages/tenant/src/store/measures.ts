import type { JsonObject } from '@tildebase/nouns'
import { fixedNumber } from './names.ts'

/** The expression that tells who did a tracked event: a user, else a visitor, else a session. */
export const WHO = `coalesce(data ->> '$.userId', data ->> '$.anonymousId', data ->> '$.sessionId')`

const FIELDS = {
  Deal: ['stage', 'currency', 'value'],
  Subscription: ['status', 'plan', 'quantity', 'startedAt', 'trialEnd', 'trialStart', 'canceledAt', 'endedAt'],
  Ticket: ['status', 'satisfaction', 'firstResponseAt'],
  Lead: ['status'],
} as const

/** The types whose entities metrics add up. */
type MeasuredType = keyof typeof FIELDS

/**
 * What metrics add up of each type, as indexes that hold just that: a snapshot walks along them and reads no state. They
 * are over `entities.measured`. Statements must say the same expressions and conditions, literally. All others say
 * `type IS ?`: with `=` SQLite looks at the value, to see whether one of these indexes would do, and prepares the
 * statement again whenever it is bound.
 */
export const MEASURES: readonly string[] = [
  ...Object.keys(FIELDS).map((type) => measure(type as MeasuredType)),
  `CREATE INDEX measures_Event ON log (data ->> '$.timestamp', ${WHO}) WHERE type = ${fixedNumber('Event')}`,
]

/** Whether a type has such an index over its entities. */
export function isMeasured(type: string): type is MeasuredType {
  return Object.hasOwn(FIELDS, type)
}

/** What metrics add up of a state, as JSON text; null for types that are not measured. */
export function measuredOf(type: string, data: string): string | null {
  if (!isMeasured(type)) return null
  const state = JSON.parse(data) as JsonObject
  return JSON.stringify(Object.fromEntries(FIELDS[type].map((field) => [field, state[field] ?? null])))
}

/** The same as SQL, over a column with the state. */
export function measuredIn(type: MeasuredType, data: string): string {
  return `json_object(${FIELDS[type].map((field) => `'${field}', ${data} -> '$.${field}'`).join(', ')})`
}

/** The types that are measured. */
export const MEASURED_TYPES = Object.keys(FIELDS) as readonly MeasuredType[]

function measure(type: MeasuredType): string {
  const columns = FIELDS[type].map((field) => `measured ->> '$.${field}'`)
  return `CREATE INDEX measures_${type} ON entities (${columns.join(', ')}, created_at)
    WHERE type = ${fixedNumber(type)} AND gone = 0`
}
