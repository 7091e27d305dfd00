import { isPlainObject, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import { isId, limitOf } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, ref, TEXT, whole } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { readRoute } from '../route.ts'

const MOST_POINTS = 1_000

/** Numbers about the business, and what follows from tracked events. */
export const metricRoutes: readonly Route[] = [
  readRoute('GET /metrics', {
    summary: 'Read the metrics snapshot',
    needs: 'read on the types involved',
    params: ['asOf'],
    answers: { 200: answer(ref('Snapshot')) },
    handle: (call) => json(200, call.read.business.snapshot(call.lens, asOfTime(call))),
  }),
  readRoute('GET /Metric/:id/series', {
    summary: 'List the values of a Metric',
    needs: 'read:analytics',
    params: ['limit'],
    answers: { 200: answer(ANY_OBJECT) },
    handle: series,
  }),
  readRoute('POST /FeatureFlag/:id/evaluate', {
    summary: 'Evaluate a feature flag for a user',
    needs: 'read:experiments',
    body: jsonBody(
      record('', { userId: TEXT, context: ANY_OBJECT }, []),
      { userId: 'u1', context: { plan: 'pro' } },
      'The user to evaluate the flag for, and what its rules ask for.',
      false,
    ),
    answers: { 200: answer(whole({ key: TEXT, value: {}, enabled: FLAG, reason: TEXT })) },
    handle: evaluate,
  }),
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
