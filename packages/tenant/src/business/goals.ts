import type { JsonObject, Verb } from '@tildebase/nouns'
import type { Engine, TransactionListener } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { grantFor } from '../grant/grant.ts'
import { filterOf } from '../query/filter.ts'
import { findRows } from '../query/find.ts'
import { readContextOf } from '../query/parameters.ts'
import { currentOf, type Stored } from '../store/entities.ts'
import type { LogRow } from '../store/log.ts'
import { applyVerb, type VerbRequest, type VerbResult } from '../write/verb.ts'

const MOST_GOALS = 1_000

/** Reaching the target, whatever the state before: the service's own verb. */
const ACHIEVE: Verb = { name: 'achieve', before: 'achieving', event: 'achieved', set: { status: 'Achieved' } }
const FOLLOW: Verb = { name: 'update', before: 'updating', event: 'updated' }
const SETTLED = ['Achieved', 'Completed', 'Missed']

/** Creates a Goal that stands where its metric stands. */
export function createGoal(tenant: Engine, _: Grant, ask: VerbRequest): VerbResult {
  const draft = objectOf(ask.data)
  const current = valueOfMetric(tenant, draft.metric) ?? draft.current
  const data = { ...draft, ...(current !== undefined && { current }) }
  return applyVerb(tenant, { ...ask, data: isReached(data) ? { ...data, status: 'Achieved' } : data })
}

/** Updates a Goal. One with a metric stays where its metric stands, whatever was sent. */
export function updateGoal(tenant: Engine, _: Grant, ask: VerbRequest): VerbResult {
  const patch = objectOf(ask.data)
  const known = currentOf(tenant.sql, 'Goal', ask.id ?? '')
  const state = known ? (JSON.parse(known.data) as JsonObject) : {}
  const metric = valueOfMetric(tenant, patch.metric === undefined ? state.metric : patch.metric)
  const done = applyVerb(tenant, { ...ask, data: { ...patch, ...(metric !== null && { current: metric }) } })
  return achieved(tenant, done, ask.actor)
}

/** Lets the Goals of a Metric follow it, in the transaction that changed it. */
export function goalListener(tenant: Engine): TransactionListener {
  return (event: LogRow, entity: Stored) => {
    if (event.type !== 'Metric' || event.verb === 'create' || event.verb === 'delete') return
    const { value } = JSON.parse(entity.data) as JsonObject
    if (typeof value !== 'number') return
    for (const goal of goalsOf(tenant, entity.id)) {
      const ask = { type: 'Goal', verb: 'update', id: goal.id, actor: 'system', correlation: event.correlation }
      achieved(tenant, applyVerb(tenant, { ...ask, internalVerb: FOLLOW, data: { current: value } }), 'system')
    }
  }
}

function achieved(tenant: Engine, done: VerbResult, actor: string): VerbResult {
  const state = JSON.parse(done.entity.data) as JsonObject
  if (done.event === null || !isReached(state) || SETTLED.includes(String(state.status))) return done
  return applyVerb(tenant, { type: 'Goal', verb: 'achieve', id: done.entity.id, actor, internalVerb: ACHIEVE })
}

function isReached({ current, target, status }: JsonObject): boolean {
  const open = !SETTLED.includes(String(status))
  return open && typeof current === 'number' && typeof target === 'number' && current >= target
}

function goalsOf(tenant: Engine, metric: string): readonly Stored[] {
  const filter = filterOf(tenant, tenant.noun('Goal'), { metric })
  const reader = readContextOf(tenant, grantFor('system'))
  return findRows(reader, { type: 'Goal', filter, limit: MOST_GOALS, total: false }).results
}

function valueOfMetric(tenant: Engine, metric: unknown): number | null {
  const known = typeof metric === 'string' ? currentOf(tenant.sql, 'Metric', metric) : undefined
  const value = known && !known.deleted ? JSON.parse(known.data).value : null
  return typeof value === 'number' ? value : null
}

function objectOf(data: unknown): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {}
}
