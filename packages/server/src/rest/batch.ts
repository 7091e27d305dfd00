import { Problem } from '@tildebase/nouns'
import { newId } from '@tildebase/tenant'
import { demandFor, findRoute } from '../app.ts'
import { type Call, flagParam, parseQuery, type Query } from '../call.ts'
import { dryRun } from '../dry-run.ts'
import { type HttpResponse, jsonText } from '../http.ts'
import { errorBody, statusOf } from '../respond.ts'
import type { Route } from '../routes.ts'
import { decode } from '../target.ts'
import { type Operation, parseBatch } from './operations.ts'
import { fill, resolve } from './refs.ts'

/** Several operations in one request and one commit. */
export const batchRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/batch',
    needs: 'key',
    mode: 'write',
    summary: 'Run several operations in one commit',
    handle: batch,
  },
]

/** What became of an operation, as later ones may refer to it. */
export interface Result {
  readonly id: string
  readonly status: number
  /** JSON text. */
  readonly body: string
}

function batch(call: Call): HttpResponse {
  const { atomic, operations } = parseBatch(call.body)
  const { clock, random } = call.tenant.ports
  const correlation = call.correlation ?? newId('batch', clock, random)
  const results = new Map<string, Result>()
  for (const operation of operations) {
    results.set(operation.id, attempt({ ...call, correlation }, operation, results))
  }
  const failed = [...results.values()].filter(({ status }) => status >= 400)
  if (atomic && failed.length > 0) {
    throw new Problem('batch_failed', `Nothing was written: ${failed.map(({ id }) => id).join(', ')} failed.`, {
      results: [...results.values()].map(({ id, status, body }) => ({ id, status, body: JSON.parse(body) })),
    })
  }
  const text = [...results.values()].map(
    ({ id, status, body }) => `{"id":${JSON.stringify(id)},"status":${status},"body":${body}}`,
  )
  return jsonText(200, `{"correlation":${JSON.stringify(correlation)},"results":[${text.join(',')}]}`)
}

/** Runs one operation whole or not at all. A problem of its sender is its result; a fault of ours ends the batch. */
function attempt(call: Call, operation: Operation, results: ReadonlyMap<string, Result>): Result {
  const { id } = operation
  try {
    const { status, body } = call.tenant.transaction(() => run(call, operation, results) as never) as HttpResponse
    return { id, status, body: typeof body === 'string' && body !== '' ? body : 'null' }
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return { id, status: statusOf(reason.code), body: JSON.stringify(errorBody(reason, call.requestId)) }
  }
}

function run(outer: Call, operation: Operation, results: ReadonlyMap<string, Result>): HttpResponse {
  const { path, query } = addressOf(operation, results)
  const match = findRoute(outer.routes, operation.method, segmentsOf(path, outer.tenant.slug))
  const { route, params } = match
  if (route.mode === 'stream' || route.path === '/batch') {
    throw new Problem(
      'invalid_operation',
      `${route.method} ${route.path} cannot be part of a batch. Send it by itself.`,
    )
  }
  const call: Call = {
    ...outer,
    ask: { ...outer.ask, method: operation.method, path, query: '', headers: headersOf(operation), body: null },
    params,
    query,
    body: operation.body === undefined ? undefined : resolve(operation.body, results),
  }
  demandFor(match, call)
  const work = () => answered(route.handle(call), route)
  return route.mode === 'write' && flagParam(query, 'dryRun') ? dryRun(call, work) : work()
}

/** The path and the query with all references filled in. What stands in `query` beats what stands in the path. */
function addressOf(operation: Operation, results: ReadonlyMap<string, Result>): { path: string; query: Query } {
  const [path = '', ...rest] = fill(operation.path, results, encodeURIComponent).split('?')
  const query = new Map<string, unknown>(parseQuery(rest.join('?')))
  for (const [name, value] of Object.entries(operation.query)) {
    const filled = typeof value === 'string' ? fill(value, results, String) : resolve(value, results)
    if (filled !== null) query.set(name, typeof filled === 'object' ? filled : String(filled))
  }
  return { path, query }
}

function segmentsOf(path: string, slug: string): string[] {
  const segments = path.split('/').map(decode)
  if (segments[0] === '') segments.shift()
  if (segments.at(-1) === '') segments.pop()
  if (segments[0]?.startsWith('~')) {
    throw new Problem('invalid_path', `A path in a batch is below the tenant: leave out /~${slug}.`, { field: 'path' })
  }
  return segments
}

function headersOf({ ifMatch }: Operation): HttpResponse['headers'] {
  return ifMatch === undefined ? {} : { 'if-match': ifMatch }
}

/** An answer that is there at once. One that takes its time would outlive the commit. */
function answered(answer: HttpResponse | Promise<HttpResponse>, route: Route): HttpResponse {
  if (!(answer instanceof Promise)) return answer
  answer.catch(() => {})
  throw new Problem('invalid_operation', `${route.method} ${route.path} cannot be part of a batch. Send it by itself.`)
}
