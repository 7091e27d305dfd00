import { isPlainObject, listed, type Noun, Problem } from '@tildebase/nouns'
import {
  asOfTime,
  BUILT_IN,
  builtInMetric,
  demand,
  entityView,
  evaluateFlag,
  isId,
  limitOf,
  metricHistory,
  metricSeries,
  snapshot,
  storedMetric,
} from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { type HttpResponse, json } from '../http.ts'
import type { Route } from '../routes.ts'

const MOST_POINTS = 1_000

/** Numbers about the business, and what follows from tracked events. */
export const metricRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/metrics',
    needs: { action: 'read', on: 'each' },
    mode: 'read',
    summary: 'The business at a glance',
    handle: (call) => json(200, snapshot(call.tenant, call.grant, call.lens, asOfTime(call.query.get('asOf')))),
  },
  ...['/Metric/:id/series', '/metrics/:id/series'].map((path) => ({
    method: 'GET' as const,
    path,
    needs: { action: 'read', on: 'each' } as const,
    mode: 'read' as const,
    summary: 'The values that a Metric has had',
    handle: series,
  })),
  ...['/FeatureFlag/:id/evaluate', '/feature-flags/:id/evaluate'].map((path) => ({
    method: 'POST' as const,
    path,
    needs: { action: 'read', on: 'each' } as const,
    mode: 'read' as const,
    summary: 'Evaluate a feature flag for a user',
    handle: evaluate,
  })),
]

/** Whether a read of a Metric names it by something else than its id. */
export function isMetricName(noun: Noun, id: string): boolean {
  return noun.name === 'Metric' && !isId(id, noun.prefix)
}

/** A stored Metric of that name, else a built-in one, with its last twelve months. */
export function metricByName(call: Call): HttpResponse {
  const { tenant, grant, context } = call
  const name = call.params.id!
  const asOf = asOfTime(call.query.get('asOf'))
  const stored = storedMetric(tenant, grant, name, asOf)
  if (stored) return json(200, { ...entityView(stored, context), history: metricHistory(tenant, stored, asOf) })
  const builtIn = builtInMetric(tenant, grant, name, asOf)
  if (builtIn) return json(200, { ...builtIn, $context: context })
  const known = Object.keys(BUILT_IN)
  throw new Problem('not_found', `There is no Metric ${name}. Built in are ${listed(known, 'and')}.`, {
    type: 'Metric',
    id: name,
    builtIn: known,
  })
}

function series(call: Call): HttpResponse {
  const { tenant, grant } = call
  demand(grant, 'read', tenant.noun('Metric'))
  const id = call.params.id!
  const limit = call.query.get('limit')
  const metric = storedMetric(tenant, grant, id, null)
  if (!metric) throw new Problem('not_found', `There is no stored Metric ${id}.`, { type: 'Metric', id })
  return json(200, { results: metricSeries(tenant, metric, limit === undefined ? 100 : limitOf(limit, MOST_POINTS)) })
}

function evaluate(call: Call): HttpResponse {
  const { userId = null, context = {} } = isPlainObject(call.body) ? call.body : {}
  if ((userId !== null && typeof userId !== 'string') || !isPlainObject(context)) {
    throw new Problem('invalid_body', 'Send {"userId": "…", "context": {…}}, both optional.', {
      field: isPlainObject(context) ? 'userId' : 'context',
    })
  }
  return json(200, evaluateFlag(call.tenant, call.grant, call.params.id!, userId, context as never))
}
