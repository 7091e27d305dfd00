import type { Route } from '../call.ts'
import { BATCH_PATHS } from './batch-paths.ts'
import { ANY_OBJECT, answers, ref } from './common.ts'
import { DATA_PATHS } from './data-paths.ts'
import { type Description, errorsOf, proposed } from './entity-paths.ts'
import { IDENTITY_PATHS, identitySuccess } from './identity-paths.ts'
import { type KnownPath, type KnownPaths, TEXT } from './known-path.ts'
import { params, pathParam } from './parameters.ts'
import { SCHEMA_PATHS } from './schema-paths.ts'
import type { Schema } from './schemas.ts'
import { TYPE_PATHS } from './type-paths.ts'

const KNOWN: KnownPaths = { ...BATCH_PATHS, ...IDENTITY_PATHS, ...DATA_PATHS, ...SCHEMA_PATHS, ...TYPE_PATHS }

/** Describes a route that is not of every type. */
export function describeFixed(route: Route, types: readonly string[]): Description {
  const known = KNOWN[`${route.method} ${route.path}`] ?? {}
  const { parameters = [], requestBody } = known
  const named = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) =>
    name === 'id' ? { $ref: '#/components/parameters/id' } : pathParam(name!, types),
  )
  const once = route.method === 'POST' && !route.repeats ? params('idempotencyKey') : []
  const status = route.method === 'DELETE' ? 204 : 200
  const answer = status === 204 ? { description: 'Done.' } : answerOf(route, known)
  return {
    description: `${route.summary}.`,
    parameters: [...named, ...parameters, ...once],
    ...(requestBody && { requestBody }),
    responses: {
      ...(identitySuccess(`${route.method} ${route.path}`, route.summary) ?? { [status]: answer }),
      ...created(route),
      ...errorsOf(route),
    },
  }
}

function answerOf({ summary }: Route, { success = ANY_OBJECT, others, isText }: KnownPath): Schema {
  return isText ? { description: summary, content: { 'text/plain': TEXT } } : answers(summary, success, [], others)
}

function created({ method, path }: Route): Description['responses'] {
  if (path === '/mcp') return { 202: { description: 'Notifications are accepted and not answered.' } }
  const creates = (method === 'PUT' && path.startsWith('/schema')) || (method === 'POST' && path === '/events')
  if (path === '/batch') return proposed()
  if (path === '/do') return { 202: answers('The writes are proposed.', ref('CodeAnswer')) }
  return creates ? { 201: answers('It was created.', ANY_OBJECT) } : {}
}
