/** The expression that tells who did a tracked event: a user, else a visitor, else a session. */
export const WHO = `coalesce(data ->> '$.userId', data ->> '$.anonymousId', data ->> '$.sessionId')`

/**
 * What metrics add up of each type, as indexes that hold just that: a snapshot walks along them and reads no entity.
 * Statements must say the same expressions and conditions, literally. All others say `type IS ?`: with `=` SQLite looks
 * at the value, to see whether one of these indexes would do, and prepares the statement again whenever it is bound.
 */
export const MEASURES: readonly string[] = [
  measure('Deal', ['stage', 'currency', 'value']),
  measure('Subscription', [
    'status',
    'plan',
    'quantity',
    'startedAt',
    'trialEnd',
    'trialStart',
    'canceledAt',
    'endedAt',
  ]),
  measure('Ticket', ['status', 'satisfaction', 'firstResponseAt']),
  measure('Lead', ['status']),
  `CREATE INDEX measures_Event ON log (data ->> '$.timestamp', ${WHO}) WHERE type = 'Event'`,
]

/** The types that have such an index over their entities. */
export const MEASURED: ReadonlySet<string> = new Set(['Deal', 'Subscription', 'Ticket', 'Lead'])

function measure(type: string, fields: readonly string[]): string {
  const columns = fields.map((field) => `data ->> '$.${field}'`)
  return `CREATE INDEX measures_${type} ON entities (${columns.join(', ')}, created_at) WHERE type = '${type}' AND gone = 0`
}
