import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import { type Call, flagParam, parseQuery, type Query, type WriteRoute } from '../call.ts'
import { dryRun, findRoute, handleIn } from '../dispatch.ts'
import type { HttpResponse } from '../http.ts'
import { type Content, contentReply, type Reply } from '../reply.ts'
import { errorReply } from '../respond.ts'
import { decode } from '../target.ts'
import { type Operation, parseBatch } from './operations.ts'
import { fill, resolve } from './refs.ts'
import { WARNINGS } from './unknown-fields.ts'

/** Several operations in one request and one commit. */
export const batchRoutes: readonly WriteRoute[] = [
  {
    method: 'POST',
    path: '/batch',
    needs: 'key',
    mode: 'write',
    summary: 'Run several operations in one commit',
    handle: batch,
  },
]

type Results = Map<string, Reply>

function batch(call: Call, write: TenantWriter): Reply {
  const { atomic, operations } = parseBatch(call.body)
  const correlation = call.writes.correlation ?? write.newId('batch')
  const correlated = write.correlated(correlation)
  const results: Results = new Map()
  for (const operation of operations) {
    results.set(operation.id, attempt(call, correlated, operation, results))
  }
  const failed = [...results].filter(([, { status }]) => status >= 400)
  if (atomic && failed.length > 0) {
    throw new Problem('batch_failed', `Nothing was written: ${failed.map(([id]) => id).join(', ')} failed.`, {
      results: [...results].map(([id, { status, content }]) => ({ id, status, body: content?.value() ?? null })),
    })
  }
  return contentReply(200, batchContent(correlation, results))
}

function batchContent(correlation: string, results: Results): Content {
  return {
    value: () => ({
      correlation,
      results: [...results].map(([id, { status, content, headers }]) => ({
        id,
        status,
        body: content?.value() ?? null,
        ...(headers[WARNINGS] !== undefined && { warnings: JSON.parse(headers[WARNINGS]) }),
      })),
    }),
    text: () => {
      const list = [...results].map(([id, { status, content, headers }]) => {
        const warnings = headers[WARNINGS] === undefined ? '' : `,"warnings":${headers[WARNINGS]}`
        return `{"id":${JSON.stringify(id)},"status":${status},"body":${content?.text() ?? 'null'}${warnings}}`
      })
      return `{"correlation":${JSON.stringify(correlation)},"results":[${list.join(',')}]}`
    },
  }
}

/** Runs one operation whole or not at all. A problem of its sender is its result; a fault of ours ends the batch. */
function attempt(call: Call, write: TenantWriter, operation: Operation, results: Results): Reply {
  try {
    return write.attempt(() => run(call, write, operation, results))
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return errorReply(reason, call.requestId, call.report)
  }
}

function run(outer: Call, write: TenantWriter, operation: Operation, results: Results): Reply {
  const { path, query } = addressOf(operation, results)
  const { route, params } = findRoute(outer.routes, operation.method, segmentsOf(path, outer.tenant.slug))
  if (route.mode === 'stream' || route.path === '/batch') {
    throw new Problem(
      'invalid_operation',
      `${route.method} ${route.path} cannot be part of a batch. Send it by itself.`,
    )
  }
  const call: Call = {
    ...outer,
    read: write.read,
    request: { ...outer.request, method: operation.method, path, query: '', headers: headersOf(operation), body: null },
    params,
    query,
    body: operation.body === undefined ? undefined : resolve(operation.body, results),
  }
  const work = () => handleIn(route, call, write)
  return route.mode === 'write' && flagParam(query, 'dryRun') ? dryRun(call, write, work) : work()
}

/** The path and the query with all references filled in. What stands in `query` beats what stands in the path. */
function addressOf(operation: Operation, results: Results): { path: string; query: Query } {
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
