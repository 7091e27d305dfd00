import { invalid, type JsonObject, type Verb } from '@tildebase/nouns'
import { demand, grantFor } from '../../grant/grant.ts'
import { findRows } from '../../query/answer/find.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import { readContextOf } from '../../query/read-context.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { currentOf, type Stored } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { VerbRequest, VerbResult } from '../../write/verb-request.ts'
import type { TransactionListener, Write } from '../../write/write.ts'

const MOST_GOALS = 1_000
/** Marks a goal as reached, from any state. A verb of the service itself, which no client can name. */
const ACHIEVE: Verb = { name: 'achieve', before: 'achieving', event: 'achieved', set: { status: 'Achieved' } }
const FOLLOW: Verb = { name: 'update', before: 'updating', event: 'updated' }
const SETTLED = ['Achieved', 'Completed', 'Missed']
const SYSTEM = grantFor('system')

/** Creates a Goal whose `current` is the value of its metric. */
export function createGoal(write: Write, request: VerbRequest): VerbResult {
  const draft = objectOf(request.data)
  demandMetric(write, draft.metric)
  const current = valueOfMetric(write, draft.metric) ?? draft.current
  const data = { ...draft, ...(current !== undefined && { current }) }
  return applyVerb(write, { ...request, data: isReached(data) ? { ...data, status: 'Achieved' } : data })
}

/** Updates a Goal. One with a metric keeps the value of its metric, whatever was sent. */
export function updateGoal(write: Write, request: VerbRequest): VerbResult {
  const patch = objectOf(request.data)
  demandMetric(write, patch.metric)
  const known = currentOf(write.sql, 'Goal', request.id ?? '')
  const state = known ? (JSON.parse(known.data) as JsonObject) : {}
  const metric = valueOfMetric(write, patch.metric === undefined ? state.metric : patch.metric)
  const result = applyVerb(write, { ...request, data: { ...patch, ...(metric !== null && { current: metric }) } })
  return achieved(write, result)
}

/** Lets the Goals of a Metric follow it, in the transaction that changed it. */
export const goalListener: TransactionListener = (write, event, entity) => {
  if (event.verb === 'create' || event.verb === 'delete') return
  const { value } = JSON.parse(entity.data) as JsonObject
  if (typeof value !== 'number') return
  const system = write.as(SYSTEM)
  for (const goal of goalsOf(system, entity.id)) {
    const request = { type: 'Goal', verb: 'update', id: goal.id, internalVerb: FOLLOW, data: { current: value } }
    achieved(system, applyVerb(system, request))
  }
}

function achieved(write: Write, result: VerbResult): VerbResult {
  const state = JSON.parse(result.entity.data) as JsonObject
  if (result.event === null || !isReached(state)) return result
  return applyVerb(write, { type: 'Goal', verb: 'achieve', id: result.entity.id, internalVerb: ACHIEVE })
}

function isReached({ current, target, status }: JsonObject): boolean {
  const isOpen = !SETTLED.includes(String(status))
  return isOpen && typeof current === 'number' && typeof target === 'number' && current >= target
}

function goalsOf({ engine, grant }: Write, metric: string): readonly Stored[] {
  const filter = filterOf(engine, engine.noun('Goal'), { metric })
  return findRows(readContextOf(engine, grant), { type: 'Goal', filter, limit: MOST_GOALS, total: false }).results
}

/** A Goal shows the value of its metric, so only a grant that sees the metric may set it. */
function demandMetric({ engine, grant, context }: Write, metric: unknown): void {
  if (typeof metric !== 'string') return
  const noun = engine.noun('Metric')
  demand(grant, 'read', noun)
  if (isVisible(engine, grant, noun, metric, context.budget)) return
  throw invalid('Goal', [{ field: 'metric', message: `there is no Metric ${metric}` }])
}

function valueOfMetric({ sql }: Write, metric: unknown): number | null {
  const known = typeof metric === 'string' ? currentOf(sql, 'Metric', metric) : undefined
  const value = known && !known.deleted ? JSON.parse(known.data).value : null
  return typeof value === 'number' ? value : null
}

function objectOf(data: unknown): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {}
}
