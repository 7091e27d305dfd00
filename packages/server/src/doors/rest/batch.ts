import { type Issue, isPlainObject, type Json, Problem } from '@tildebase/nouns'
import type { Steps, TenantWriter } from '@tildebase/tenant'
import { AnswerRows, MOST_UNKNOWN, TURN, type UnknownField, unknownMembers } from '@tildebase/tenant/internal'
import { type Call, flagParam, type Query, type Route, readQuery, type StreamRoute } from '../call.ts'
import { answer, jsonBody, PROPOSE, PROPOSED } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, TEXT, WHOLE, whole } from '../describe/schema.ts'
import { dryRun, findRoute, handleIn, refuseMisspelt, segmentsIn } from '../dispatch.ts'
import type { HttpResponse } from '../http.ts'
import { type Content, contentReply, type Reply, WARNINGS } from '../reply.ts'
import { errorReply } from '../respond.ts'
import { writeRoute } from '../route.ts'
import { decode } from '../target.ts'
import { warned } from './unknown-fields.ts'

const BATCH = record(
  '',
  {
    atomic: { ...FLAG, default: false },
    operations: {
      type: 'array',
      maxItems: 100,
      items: record(
        '',
        {
          id: TEXT,
          method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
          path: TEXT,
          query: ANY_OBJECT,
          body: {},
          ifMatch: { type: ['string', 'integer'] },
        },
        ['path'],
      ),
    },
  },
  ['operations'],
)

/** Several operations in one request: in one commit if they are atomic, else in as few as take some milliseconds each. */
export const batchRoutes: readonly Route[] = [
  writeRoute('POST /batch', {
    summary: 'Run several operations',
    needs: 'any valid key',
    params: ['dryRun', ...PROPOSE],
    body: jsonBody(
      BATCH,
      {
        atomic: true,
        operations: [
          // No {"$ref": …} here: tools take it for a reference of the document.
          { id: 'ada', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
          { id: 'qualify', method: 'POST', path: '/Contact/${ada.$id}/qualify' },
        ],
      },
      'Up to 100 operations, run in order. With atomic, all of them or none.',
    ),
    answers: {
      200: answer(
        record(
          '',
          { correlation: TEXT, results: { type: 'array', items: whole({ id: TEXT, status: WHOLE, body: {} }) } },
          [],
        ),
      ),
      ...PROPOSED,
    },
    handle: batch,
    readsItsOwn: true,
    inTurns: batchInTurns,
    commitMs: 1_000,
  }),
]

type Results = Map<string, Reply>

function* batch(call: Call, write: TenantWriter): Steps<Reply> {
  const { atomic, operations, unknown } = parseBatch(call)
  const correlation = call.writes.correlation ?? write.newId('batch')
  const correlated = write.correlated(correlation)
  const results: Results = new Map()
  write.progress.expect(() => operations.length)
  for (const operation of operations) {
    results.set(operation.id, attempt(call, correlated, operation, results))
    write.progress.advance()
    yield
  }
  const failed = [...results].filter(([, { status }]) => status >= 400)
  // What is proposed is approved as one: a part of it that fails has no place in it.
  if ((atomic || write.isProposal) && failed.length > 0) {
    throw new Problem('batch_failed', `Nothing was written: ${failed.map(([id]) => id).join(', ')} failed.`, {
      results: [...results].map(([id, { status, content }]) => ({ id, status, body: content?.value() ?? null })),
    })
  }
  return warned(contentReply(200, batchContent(correlation, results)), unknown)
}

/** Runs operations that need not be whole together, one after the other, with turns for others in between. */
function batchInTurns(call: Call): Promise<Reply> | null {
  const given = parseBatch(call)
  if (given.atomic) return null
  const budget = call.newBudget()
  return runInTurns({ ...call, budget, read: call.tenant.read(call.grant, budget, call.context) }, given)
}

async function runInTurns(call: Call, { operations, unknown }: Batch): Promise<Reply> {
  const results: Results = new Map()
  let { correlation } = call.writes
  for (let next = 0; next < operations.length; next = results.size) {
    const operation = operations[next]!
    const read = await readInTurns(call, operation, results)
    if (read) results.set(operation.id, read)
    else {
      const done = await call.tenant.write(call.grant, call.writes, call.budget, (write) => {
        correlation ??= write.newId('batch')
        return runSome(call, write.correlated(correlation), operations.slice(next), results)
      })
      for (const [id, reply] of done) results.set(id, reply)
    }
  }
  return warned(contentReply(200, batchContent(correlation ?? '', results)), unknown)
}

/** Runs operations until they have taken some milliseconds. A commit may be run again, so it changes nothing outside. */
function runSome(
  call: Call,
  write: TenantWriter,
  operations: readonly Operation[],
  before: Results,
): (readonly [string, Reply])[] {
  const results = new Map(before)
  const done: (readonly [string, Reply])[] = []
  const begun = performance.now()
  for (const operation of operations) {
    // A read comes between two commits, where it may yield.
    if (operation.method === 'GET' && done.length > 0) break
    const reply = attempt(call, write, operation, results)
    results.set(operation.id, reply)
    done.push([operation.id, reply])
    if (performance.now() - begun >= TURN.bulk) break
  }
  return done
}

/** Runs a read operation that may take long separately. Null for any other. */
async function readInTurns(call: Call, operation: Operation, results: Results): Promise<Reply | null> {
  if (operation.method !== 'GET') return null
  try {
    const { route, inner } = resolved(call, call.read, operation, results)
    return route.mode === 'read' ? withinRows(call, results, await route.handle(inner)) : null
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return errorReply(reason, call.requestId, call.report)
  }
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
  const { route, inner: call } = resolved(outer, write.read, operation, results)
  const work = () => handleIn(route, call, write)
  const reply = route.mode === 'write' && flagParam(call.query, 'dryRun') ? dryRun(call, write, work) : work()
  return withinRows(outer, results, reply)
}

/** The reply, unless the batch would now give an agent more entities than one answer may have. */
function withinRows({ grant }: Call, results: Results, reply: Reply): Reply {
  if (grant.limits?.rowsPerAnswer === undefined) return reply
  const rows = new AnswerRows(grant)
  for (const { content } of [...results.values(), reply]) rows.counted((content?.value() ?? null) as Json)
  return reply
}

/** The route of an operation, and the call that it makes. */
function resolved(
  outer: Call,
  read: Call['read'],
  operation: Operation,
  results: Results,
): { readonly route: Exclude<Route, StreamRoute>; readonly inner: Call } {
  const { path, query } = addressOf(outer, operation, results)
  const segments = segmentsIn(outer.tenant, segmentsOf(path, outer.tenant.slug))
  const { route, params } = findRoute(outer.routes, operation.method, segments)
  if (route.mode === 'stream' || route.path === '/batch') {
    throw new Problem(
      'invalid_operation',
      `${route.method} ${route.path} cannot be part of a batch. Send it as a separate request.`,
    )
  }
  const inner: Call = {
    ...outer,
    request: { ...outer.request, method: operation.method, path, query: '', headers: headersOf(operation), body: null },
    params,
    query,
    body: refers(operation.body) ? resolve(operation.body, results) : operation.body,
    read,
  }
  if (route.method !== 'GET') refuseMisspelt(query)
  if (query.has('propose')) {
    throw new Problem('invalid_parameter', 'Set propose once, in the URL of the batch.', { field: 'propose' })
  }
  return { route, inner }
}

/** The path and the query with all references filled in. What is in `query` beats what is in the path; strict is for all. */
function addressOf(outer: Call, operation: Operation, results: Results): { path: string; query: Query } {
  const [path = '', ...rest] = fill(operation.path, results, encodeURIComponent).split('?')
  const query = new Map<string, unknown>(readQuery(rest.join('?')))
  if (flagParam(outer.query, 'strict') && !query.has('strict')) query.set('strict', 'true')
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
    throw new Problem('invalid_path', `A path in a batch is relative to the tenant: omit /~${slug}.`, { field: 'path' })
  }
  return segments
}

function headersOf({ ifMatch }: Operation): HttpResponse['headers'] {
  return ifMatch === undefined ? {} : { 'if-match': ifMatch }
}

/** The result of an earlier operation. */
interface EarlierResult {
  readonly status: number
  readonly content: { value(): unknown; text(): string } | null
}

type EarlierResults = ReadonlyMap<string, EarlierResult>

/** Whether a body may have a reference. Most have none, and are taken as they are. */
function refers(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(refers)
  return isPlainObject(value) && (Object.hasOwn(value, '$ref') || Object.values(value).some(refers))
}

/** A body with every `{"$ref": "op1", "path": "$id"}` replaced by what it refers to. */
function resolve(value: unknown, results: EarlierResults): unknown {
  if (Array.isArray(value)) return value.map((element) => resolve(element, results))
  if (!isPlainObject(value)) return value
  if (isRef(value)) return valueAt(value.$ref, value.path ?? '$id', results)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, results)]))
}

/** A string with every `${op1.$id}` replaced by what it refers to. */
function fill(text: string, results: EarlierResults, write: (value: string) => string): string {
  if (!text.includes('${')) return text
  return text.replace(/\$\{([^{}.]+)(?:\.([^{}]*))?\}/g, (whole, id: string, path: string | undefined) => {
    const value = valueAt(id, path ?? '$id', results)
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return write(String(value))
    throw new Problem('invalid_ref', `${whole} is not a string, a number or a boolean.`, { field: whole })
  })
}

function isRef(value: { readonly [key: string]: unknown }): value is { $ref: string; path?: string } {
  const { $ref, path, ...others } = value
  const named = typeof $ref === 'string' && (path === undefined || typeof path === 'string')
  return named && Object.keys(others).length === 0
}

function valueAt(id: string, path: string, results: EarlierResults): unknown {
  const result = results.get(id)
  if (!result) {
    throw new Problem('invalid_ref', `No earlier operation has the id ${id}.`, { field: id })
  }
  if (result.status >= 400) {
    throw new Problem('dependency_failed', `This operation needs the result of ${id}, which failed.`, { field: id })
  }
  let value: unknown = result.content?.value() ?? null
  for (const step of path === '' ? [] : path.split('.')) {
    const there = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    if (!there)
      throw new Problem('invalid_ref', `The result of ${id} has no value at ${path}.`, { field: `${id}.${path}` })
    value = (value as { [key: string]: unknown })[step]
  }
  return value
}

/** One operation of a batch, its form checked. */
interface Operation {
  readonly id: string
  readonly method: string
  /** Below the tenant, with or without a leading slash; may hold `${op1.$id}`. */
  readonly path: string
  readonly query: { readonly [name: string]: unknown }
  readonly body: unknown
  readonly ifMatch?: string
}

interface Batch {
  readonly atomic: boolean
  readonly operations: readonly Operation[]
  /** The names that neither a batch nor an operation has. */
  readonly unknown: readonly UnknownField[]
}

const OF_BATCH = ['atomic', 'operations']
const OF_OPERATION = ['id', 'method', 'path', 'query', 'body', 'ifMatch']

const MOST = 100
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Reads the body of a batch, or tells everything that is wrong with its form. */
function parseBatch({ body, query }: Call): Batch {
  const { atomic = false, operations } = isPlainObject(body) ? body : {}
  if (!Array.isArray(operations)) {
    throw new Problem(
      'invalid_body',
      'Send {"operations": [{"id": "a", "method": "POST", "path": "/Contact", "body": {…}}]}.',
      { field: 'operations' },
    )
  }
  if (operations.length > MOST) {
    throw new Problem('too_many', `A batch may have at most ${MOST} operations; this one has ${operations.length}.`, {
      field: 'operations',
      limit: MOST,
    })
  }
  const issues: Issue[] = []
  if (typeof atomic !== 'boolean') issues.push({ field: 'atomic', message: 'must be true or false' })
  const parsed = operations.map((one, index) => parseOperation(one, index, issues))
  const ids = parsed.map(({ id }) => id)
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) < index) issues.push({ field: `operations.${index}.id`, message: `${id} is already used` })
  }
  if (issues.length === 0) {
    const isStrict = flagParam(query, 'strict')
    const unknown = [
      ...unknownMembers(body, OF_BATCH, { isStrict }),
      ...operations.flatMap((one, index) =>
        unknownMembers(one, OF_OPERATION, { isStrict, place: `operations.${index}.` }),
      ),
    ]
    return { atomic: atomic === true, operations: parsed, unknown: unknown.slice(0, MOST_UNKNOWN) }
  }
  throw new Problem(
    'invalid_body',
    `The batch is not well-formed. ${issues.map(({ field, message }) => `${field}: ${message}`).join('; ')}`,
    { field: issues[0]!.field, details: issues },
  )
}

function parseOperation(given: unknown, index: number, issues: Issue[]): Operation {
  const at = `operations.${index}`
  if (!isPlainObject(given)) issues.push({ field: at, message: 'must be an object with id, method and path' })
  const { id = String(index), method = 'GET', path, query = {}, body, ifMatch } = isPlainObject(given) ? given : {}
  const verb = typeof method === 'string' ? method.toUpperCase() : ''
  if (typeof id !== 'string' || id === '') issues.push({ field: `${at}.id`, message: 'must be a string' })
  if (!METHODS.includes(verb)) issues.push({ field: `${at}.method`, message: `must be one of ${METHODS.join(', ')}` })
  if (typeof path !== 'string' || path === '') issues.push({ field: `${at}.path`, message: 'must be a path' })
  if (!isPlainObject(query)) issues.push({ field: `${at}.query`, message: 'must be an object of parameters' })
  return {
    id: String(id),
    method: verb,
    path: String(path),
    query: isPlainObject(query) ? query : {},
    body,
    ...(ifMatch !== undefined && { ifMatch: typeof ifMatch === 'number' ? `"${ifMatch}"` : String(ifMatch) }),
  }
}
