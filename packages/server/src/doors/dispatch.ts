import { isPlainObject, type JsonObject, Problem, quoted } from '@tildebase/nouns'
import { entityView, type Steps, type Stepwise, type Tenant, type TenantWriter } from '@tildebase/tenant'
import { asSteps, done } from '@tildebase/tenant/internal'
import {
  type Call,
  flagParam,
  type Match,
  type Query,
  type Route,
  type RouteTable,
  type StreamRoute,
  textParam,
  type WriteRoute,
} from './call.ts'
import type { MaybePromise } from './http.ts'
import { isOnce, remember, rememberLong } from './idempotency.ts'
import { json, type Reply, WARNINGS } from './reply.ts'
import { redacted } from './watch/redact.ts'

/** The route of a request, or the problem of having none. */
export function findRoute<R>(
  routes: RouteTable<R>,
  method: string,
  segments: readonly string[],
  document = '/~{tenant}/openapi.json',
): Match<R> {
  const found = routes.find(method, segments)
  if (found === null) {
    const path = segments.join('/').slice(0, 200)
    throw new Problem('unknown_path', `The path /${path} does not exist. See ${document} for all paths.`)
  }
  if ('allow' in found) {
    const allow = found.allow.join(', ')
    throw new Problem('method_not_allowed', `${method} is not supported here; use ${allow}.`, { allow })
  }
  return found
}

/** The type Task of a tenant that has one is at `/tasks`, too. A task of the service is at `/tasks/:task` all the same. */
export function segmentsIn(tenant: Tenant, segments: readonly string[]): readonly string[] {
  const [first, id] = segments
  const noun = first === 'tasks' ? tenant.nouns.get(first) : undefined
  return noun === undefined || (id !== undefined && tenant.tasks.has(id)) ? segments : [noun.name, ...segments.slice(1)]
}

/** Runs a route, once the indexes that it asks are up to date. */
export function runRoute(route: Route, call: Call): MaybePromise<Reply> {
  const index = indexAsked(call)
  const isBehind = index === null ? undefined : call.tenant.catchUp(index)
  return isBehind ? isBehind.then(() => runNow(route, call)) : runNow(route, call)
}

/** Whether a request may ask for words or for the past, as far as its text shows. */
function indexAsked({ request: { path, query, body }, params }: Call): 'words' | 'past' | null {
  if (path.endsWith('/history') || path.endsWith('/diff')) return 'past'
  const index = query === '' ? null : indexIn(query)
  // The body of an entity's own paths holds fields, and no question.
  if (index !== null || params.type !== undefined || !(body instanceof Uint8Array)) return index
  return body.length < MOST_LOOKED_AT ? indexIn(new TextDecoder().decode(body)) : null
}

function indexIn(text: string): 'words' | 'past' | null {
  if (/%24text|\$text/i.test(text)) return 'words'
  return /asOf/i.test(text) ? 'past' : null
}

const MOST_LOOKED_AT = 65_536

/** Runs a route: a reading one at once, a writing one in the next commit, once per Idempotency-Key. */
function runNow(route: Route, call: Call): MaybePromise<Reply> {
  if (route.mode === 'read' && route.method === 'GET') return route.handle(call)
  const prepared = route.mode === 'write' ? route.prepare?.(call) : null
  return prepared ? prepared.then((whole) => runPrepared(route, whole)) : runPrepared(route, call)
}

function runPrepared(route: Route, call: Call): MaybePromise<Reply> {
  const isProposal = isProposed(route, call)
  if (route.mode === 'stream')
    return route.repeats ? route.handle(call) : rememberLong(call, (own) => runStream(route, own))
  if (route.mode === 'read' && !isOnce(call)) return route.handle(call)
  const isPlain = !isOnce(call) && !isProposal && !flagParam(call.query, 'dryRun')
  const inTurns = route.mode === 'write' && isPlain ? route.inTurns?.(call) : null
  if (inTurns) return inTurns
  if (route.mode === 'read') {
    return call.tenant.write(call.grant, call.writes, call.budget, (write) =>
      remember(call, write, () => (isProposal ? proposed(call, write, route) : handleIn(route, call, write))),
    )
  }
  return replyOrTask(route, call, isProposal, (write, isLong) => {
    const own = isLong ? { ...call, read: write.read } : call
    const work = () => {
      if (isProposal) return proposed(own, write, route)
      return isLong && !route.readsItsOwn ? settling(route, own, write) : route.handle(own, write)
    }
    if (!isDryRun(route, call)) return remember(own, write, work)
    return isLong ? dryRunInSteps(own, write, work) : dryRun(own, write, () => done(work()))
  })
}

/**
 * Runs a write in the next commit. One that takes too long for that is a task: it is answered as usual if it is done within
 * the time of a request, and else with 202 and the task, which continues. A GET, which leaves nothing, waits for its answer.
 */
async function replyOrTask(
  route: WriteRoute,
  call: Call,
  isProposal: boolean,
  work: (write: TenantWriter, isLong: boolean) => Stepwise<Reply>,
): Promise<Reply> {
  const { tenant, grant, writes, budget } = call
  const outcome = await tenant.writeOrBegin(grant, writes, budget, () => aboutOf(route, call, isProposal), work)
  if ('status' in outcome) return outcome
  if (route.method === 'GET') return outcome.done
  return (await within(budget.limitMs, outcome.done)) ?? taskReply(call, outcome.task)
}

function aboutOf({ method, taskResult = [] }: WriteRoute, { request, query, tenant }: Call, isProposal: boolean) {
  const names = isProposal ? KEPT_OF_PROPOSAL : taskResult
  return {
    title: `${request.method} ${request.path.replace(`/~${tenant.slug}`, '')}`,
    isDryRun: flagParam(query, 'dryRun') || method === 'GET',
    result: (reply: Reply) => keptOf(reply, names, flagParam(query, 'dryRun')),
  }
}

/** What is kept of a proposal: its changeset. */
const KEPT_OF_PROPOSAL = ['$id']

/** What is kept of an answer. That of a dry run has the form that the dry run itself has. */
function keptOf({ status, content }: Reply, names: readonly string[], isDryRun: boolean): JsonObject {
  const value = (names.length > 0 || isDryRun) && content !== null ? content.value() : null
  if (!isDryRun || !isPlainObject(value)) return { status, ...partsOf(names, value) }
  return { dryRun: true, status: value.status as number, result: partsOf(names, value.result) }
}

function partsOf(names: readonly string[], value: unknown): JsonObject {
  if (!isPlainObject(value)) return {}
  return Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]])) as JsonObject
}

function taskReply({ tenant, grant, address }: Call, id: string): Reply {
  return json(202, tenant.tasks.get(grant, id), { location: `${address.slice(address.lastIndexOf('/~'))}/tasks/${id}` })
}

/** What a promise gives within so many milliseconds, or null. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((late) => {
    timer = setTimeout(late, ms, null)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function isDryRun(route: Route, { query }: Call): boolean {
  return route.mode === 'write' && flagParam(query, 'dryRun')
}

/** Runs a route inside a write. */
export function handleIn(route: Exclude<Route, StreamRoute>, call: Call, write: TenantWriter): Reply {
  if (route.mode === 'write') return done(route.handle(call, write))
  return route.handle({ ...call, read: call.read.atOnce() }) as Reply
}

/** Runs a route that changes much: computed fields follow at its end, in steps. */
function settling(route: WriteRoute, call: Call, write: TenantWriter): Stepwise<Reply> {
  return write.computingOnce((inner) => route.handle({ ...call, read: inner.read }, inner))
}

/** Runs a write that leaves no trace: what it would answer, and the events it would write. */
export function dryRun(call: Call, write: TenantWriter, work: () => Reply): Reply {
  const { result, events } = write.dryRun(work)
  return dryRunReply(call, result, events)
}

/** The same for a write of its own that nothing is kept of. */
function* dryRunInSteps(call: Call, write: TenantWriter, work: () => Stepwise<Reply>): Steps<Reply> {
  const result = yield* asSteps(work())
  return dryRunReply(call, result, write.events)
}

function dryRunReply(call: Call, result: Reply, events: readonly JsonObject[]): Reply {
  const value = result.content === null ? null : result.content.value()
  // A secret that was never issued is not shown.
  const tried = { dryRun: true, status: result.status, result: redacted(value, call.writes.secrets), events }
  return json(200, tried, warningsIn(result))
}

/** What the sender should know also when the write is only tried. */
function warningsIn({ headers }: Reply): Reply['headers'] {
  const warnings = headers[WARNINGS]
  return warnings === undefined ? {} : { [WARNINGS]: warnings }
}

async function runStream(route: StreamRoute, call: Call): Promise<Reply> {
  return route.handle(call)
}

/** A write that is not a list of verbs, although it runs some. */
const NOT_PROPOSED = '/sync'

/** Whether a request is to be proposed instead of executed. What cannot be proposed or tried is refused, never executed. */
function isProposed(route: Route, { query }: Call): boolean {
  if (route.method === 'GET') return false
  refuseMisspelt(query)
  const isProposal = query.has('propose')
  if (isProposal && (route.path === NOT_PROPOSED || !takes(route, 'propose'))) {
    const message = `${route.method} ${route.path} cannot be proposed. Use a batch, or a fork.`
    throw new Problem('invalid_parameter', message, { field: 'propose' })
  }
  if (!takes(route, 'dryRun') && flagParam(query, 'dryRun')) {
    const message = `${route.method} ${route.path} has no dry run. Try it in a fork.`
    throw new Problem('invalid_parameter', message, { field: 'dryRun' })
  }
  return isProposal
}

/** Refuses a misspelt trial, such as `dryrun`: the write would be executed. */
export function refuseMisspelt(query: Query): void {
  for (const name of query.keys()) {
    const meant = TRIALS.find(
      (trial) => trial !== name && trial.toLowerCase() === name.toLowerCase().replace(/[_-]/g, ''),
    )
    if (meant === undefined) continue
    const message = `${quoted(name)} is not a parameter. Did you mean ${meant}? Nothing was written.`
    throw new Problem('invalid_parameter', message, { field: quoted(name) })
  }
}

/** The parameters with which a write is not executed. */
const TRIALS = ['dryRun', 'propose']

/** Whether a route can be proposed or tried: one that runs on its own must say so. */
function takes({ mode, params }: Route, name: 'propose' | 'dryRun'): boolean {
  return mode !== 'stream' || params?.includes(name) === true
}

/** Tries a write, takes it back and keeps its verbs in a changeset: 202 with that, and with what it would have answered. */
function* proposed(call: Call, write: TenantWriter, route: Exclude<Route, StreamRoute>): Steps<Reply> {
  const into = textParam(call.query, 'propose') ?? ''
  const reason = textParam(call.query, 'reason')
  const source = `${call.request.method} ${call.request.path}`
  const { changeset, preview } = yield* write.propose({ into, reason, source }, (trial) => {
    const own = { ...call, read: trial.read }
    return route.mode === 'write' ? route.handle(own, trial) : handleIn(route, own, trial)
  })
  const { entity, operations } = write.changeset(changeset)
  const { address, context } = call
  return json(
    202,
    {
      ...entityView(entity, context),
      operations,
      // A secret that was never issued is not shown.
      preview: redacted(preview.content?.value() ?? null, call.writes.secrets),
    },
    {
      location: `${address.slice(address.lastIndexOf('/~'))}/changesets/${changeset}`,
      ...warningsIn(preview),
    },
  )
}
