import type { JsonObject, Verb } from '@tildebase/nouns'
import { type Act, act, type Done } from '../act/act.ts'
import { filterOf } from '../filter.ts'
import type { Grant } from '../keys/grant.ts'
import { grantFor } from '../keys/grant.ts'
import { findRows } from '../query/find.ts'
import { readerOf } from '../read.ts'
import { currentOf, type Stored } from '../store/entities.ts'
import type { LogRow } from '../store/log.ts'
import type { Tenant, Witness } from '../tenant.ts'

const MOST_GOALS = 1_000

/** Reaching the target, whatever the state before: the service's own verb. */
const ACHIEVE: Verb = { name: 'achieve', before: 'achieving', event: 'achieved', set: { status: 'Achieved' } }
const FOLLOW: Verb = { name: 'update', before: 'updating', event: 'updated' }
const SETTLED = ['Achieved', 'Completed', 'Missed']

/** Creates a Goal that stands where its metric stands. */
export function createGoal(tenant: Tenant, _: Grant, ask: Act): Done {
  const draft = objectOf(ask.data)
  const current = valueOfMetric(tenant, draft.metric) ?? draft.current
  const data = { ...draft, ...(current !== undefined && { current }) }
  return act(tenant, { ...ask, data: isReached(data) ? { ...data, status: 'Achieved' } : data })
}

/** Updates a Goal. One with a metric stays where its metric stands, whatever was sent. */
export function updateGoal(tenant: Tenant, _: Grant, ask: Act): Done {
  const patch = objectOf(ask.data)
  const known = currentOf(tenant.sql, 'Goal', ask.id ?? '')
  const state = known ? (JSON.parse(known.data) as JsonObject) : {}
  const metric = valueOfMetric(tenant, patch.metric === undefined ? state.metric : patch.metric)
  const done = act(tenant, { ...ask, data: { ...patch, ...(metric !== null && { current: metric }) } })
  return achieved(tenant, done, ask.actor)
}

/** Lets the Goals of a Metric follow it, in the transaction that changed it. */
export function goalWitness(tenant: Tenant): Witness {
  return (event: LogRow, entity: Stored) => {
    if (event.type !== 'Metric' || event.verb === 'create' || event.verb === 'delete') return
    const { value } = JSON.parse(entity.data) as JsonObject
    if (typeof value !== 'number') return
    for (const goal of goalsOf(tenant, entity.id)) {
      const ask = { type: 'Goal', verb: 'update', id: goal.id, actor: 'system', correlation: event.correlation }
      achieved(tenant, act(tenant, { ...ask, own: FOLLOW, data: { current: value } }), 'system')
    }
  }
}

function achieved(tenant: Tenant, done: Done, actor: string): Done {
  const state = JSON.parse(done.entity.data) as JsonObject
  if (done.event === null || !isReached(state) || SETTLED.includes(String(state.status))) return done
  return act(tenant, { type: 'Goal', verb: 'achieve', id: done.entity.id, actor, own: ACHIEVE })
}

function isReached({ current, target, status }: JsonObject): boolean {
  const open = !SETTLED.includes(String(status))
  return open && typeof current === 'number' && typeof target === 'number' && current >= target
}

function goalsOf(tenant: Tenant, metric: string): readonly Stored[] {
  const filter = filterOf(tenant, tenant.noun('Goal'), { metric })
  const reader = readerOf(tenant, grantFor('system'))
  return findRows(reader, { type: 'Goal', filter, limit: MOST_GOALS, total: false }).results
}

function valueOfMetric(tenant: Tenant, metric: unknown): number | null {
  const known = typeof metric === 'string' ? currentOf(tenant.sql, 'Metric', metric) : undefined
  const value = known && !known.gone ? JSON.parse(known.data).value : null
  return typeof value === 'number' ? value : null
}

function objectOf(data: unknown): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : {}
}
