import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import { isId, limitOf } from '@tildebase/tenant'
import type { Call, ReadRoute } from '../call.ts'
import { json, type Reply } from '../reply.ts'

const MOST_POINTS = 1_000

/** Numbers about the business, and what follows from tracked events. */
export const metricRoutes: readonly ReadRoute[] = [
  {
    method: 'GET',
    path: '/metrics',
    needs: { action: 'read', on: 'each' },
    mode: 'read',
    summary: 'Read the metrics snapshot',
    handle: (call) => json(200, call.read.business.snapshot(call.lens, asOfTime(call))),
  },
  ...['/Metric/:id/series', '/metrics/:id/series'].map((path) => ({
    method: 'GET' as const,
    path,
    needs: { action: 'read', on: 'each' } as const,
    mode: 'read' as const,
    summary: 'List the values of a Metric',
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
export function metricByName(call: Call): Reply {
  return json(200, call.read.business.metric(call.params.id!, asOfTime(call)))
}

function series({ read, params, query }: Call): Reply {
  const limit = query.get('limit')
  const most = limit === undefined ? 100 : limitOf(limit, MOST_POINTS)
  return json(200, { results: read.business.series(params.id!, most) })
}

function evaluate({ read, params, body }: Call): Reply {
  const { userId = null, context = {} } = isPlainObject(body) ? body : {}
  if ((userId !== null && typeof userId !== 'string') || !isPlainObject(context)) {
    throw new Problem('invalid_body', 'Send {"userId": "…", "context": {…}}, both optional.', {
      field: isPlainObject(context) ? 'userId' : 'context',
    })
  }
  return json(200, read.business.evaluateFlag(params.id!, userId, context as JsonObject))
}

/** The time that `asOf` names, or null when it is not given. */
function asOfTime({ query, read }: Call): number | null {
  const value = query.get('asOf')
  return value === undefined || value === null || value === '' ? null : read.business.asOf(value)
}
