import { isPlainObject, Problem, resolveLens } from '@tildebase/nouns'
import {
  demand,
  demandArea,
  type Engine,
  type Grant,
  type GroupCommit,
  grantOf,
  OPERATOR,
  runVerb,
  traced,
  type WriteQueue,
} from '@tildebase/tenant'
import { type Call, flagParam, parseBody, parseQuery } from './call.ts'
import { dryRun } from './dry-run.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from './http.ts'
import { isOnce, remember, rememberLong } from './idempotency.ts'
import type { RateLimit } from './rate.ts'
import { refusal } from './respond.ts'
import { createdAnswer } from './rest/entities.ts'
import type { Match, Routes } from './routes.ts'
import type { RequestTarget } from './target.ts'
import { traceOf } from './trace.ts'

/** A tenant that is open, with its queue of commits. */
export interface OpenTenant {
  readonly tenant: Engine
  readonly commits: GroupCommit
}

/** Who sends a request, as far as the door can tell: the operator, somebody with a secret, or nobody. */
export type Sender =
  | { readonly kind: 'operator' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'nobody' }

/** What the app needs beside the tenant. */
export interface AppOptions {
  readonly routes: Routes
  /** Whether anybody may make a tenant that does not exist yet, with its first key. */
  readonly signup: boolean
  readonly report: (reason: unknown, requestId: string) => void
  /** How often a key may ask; absent is as often as it likes. */
  readonly rate?: RateLimit
  /** How many bytes an import may have, after inflation; 1 GiB when absent. */
  readonly importLimit?: number
}

const IMPORT_LIMIT = 1_073_741_824

/** Answers a request inside a tenant. Never throws. */
export function handleRequest(
  open: OpenTenant,
  ask: HttpRequest,
  place: RequestTarget,
  sender: Sender,
  requestId: string,
  options: AppOptions,
): MaybePromise<HttpResponse> {
  const refuse = (reason: unknown) => refusal(reason, requestId, options.report)
  const attempt = (work: () => MaybePromise<HttpResponse>): MaybePromise<HttpResponse> => {
    try {
      const given = work()
      return given instanceof Promise ? given.catch(refuse) : given
    } catch (reason) {
      return refuse(reason)
    }
  }
  return attempt(() => {
    const grant = grantFor(open.tenant, sender)
    if (grant === null) return open.commits.run(() => signUp(open.tenant, ask, place, options))
    const turn = options.rate?.take(`${open.tenant.slug} ${grant.actor}`)
    if (!turn) return dispatch(open, ask, place, grant, requestId, options)
    const given = attempt(() => {
      if (turn.refused) throw turn.refused
      return dispatch(open, ask, place, grant, requestId, options)
    })
    const counted = (answer: HttpResponse) => ({ ...answer, headers: { ...answer.headers, ...turn.headers } })
    return given instanceof Promise ? given.then(counted) : counted(given)
  })
}

function dispatch(
  open: OpenTenant,
  ask: HttpRequest,
  place: RequestTarget,
  grant: Grant,
  requestId: string,
  options: AppOptions,
): MaybePromise<HttpResponse> {
  const { route, params } = findRoute(options.routes, ask.method, place.segments)
  const { tenant } = open
  const call: Call = {
    tenant,
    commits: tracedWrites(open, ask.headers.traceparent),
    grant,
    ask,
    routes: options.routes,
    lens: resolveLens(place.dimensions),
    params,
    query: parseQuery(ask.query),
    body: route.rawBody ? undefined : plainBody(ask),
    context: `${place.baseUrl}/~${tenant.slug}`,
    requestId,
    correlation: correlationOf(ask),
    importLimit: options.importLimit ?? IMPORT_LIMIT,
  }
  demandFor({ route, params }, call)
  if (route.repeats) return route.handle(call)
  if (route.mode === 'stream') return rememberLong(call, async () => route.handle(call), options.report)
  return route.mode === 'write' || isOnce(call) ? runWrite(route, call) : route.handle(call)
}

/** The JSON of a body, which only an import takes zipped. */
function plainBody({ body, headers }: HttpRequest): unknown {
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (body === null || encoding === 'identity') return parseBody(body as Uint8Array | null)
  throw new Problem('unsupported_media_type', 'Only an import takes a Content-Encoding. Send the body as it is.', {
    field: 'Content-Encoding',
  })
}

/** Where a request hands in its writes: what they cause goes on with the trace that the request belongs to. */
function tracedWrites({ tenant, commits }: OpenTenant, header: string | undefined): WriteQueue {
  const trace = traceOf(header, false)
  if (trace === null) return commits
  const text = `${trace.id}-${trace.sampled ? '01' : '00'}`
  return { run: (work) => commits.run(() => traced(tenant, text, work)) }
}

/** What the sender wants the writes of this request to share, if it has a bearable form. */
function correlationOf(ask: HttpRequest): string | null {
  const given = ask.headers['x-correlation-id']
  return given !== undefined && /^[\w.:-]{1,100}$/.test(given) ? given : null
}

/** Runs a writing route in the next commit: once per Idempotency-Key, or without a trace when it is a dry run. */
export function runWrite(route: Match['route'], call: Call): Promise<HttpResponse> {
  const work = () => route.handle(call) as HttpResponse
  if (flagParam(call.query, 'dryRun')) return call.commits.run(() => dryRun(call, work))
  return call.commits.run(() => remember(call, work))
}

/** The route of a request, or the problem of having none. */
export function findRoute(routes: Routes, method: string, segments: readonly string[]): Match {
  const found = routes.find(method, segments)
  if (found === null) {
    throw new Problem(
      'unknown_path',
      `There is nothing at /${segments.join('/').slice(0, 200)}. See /~{tenant}/openapi.json for what there is.`,
    )
  }
  if ('allow' in found) {
    const allow = found.allow.join(', ')
    throw new Problem('method_not_allowed', `${method} is not possible here; ${allow} is.`, { allow })
  }
  return found
}

/** Refuses a request whose key does not hold what its route needs. */
export function demandFor({ route, params }: Match, call: Call): void {
  const { needs } = route
  if (needs === 'key' || needs.on === 'each') return
  if (needs.on === 'area') demandArea(call.grant, needs.action, needs.area)
  else demand(call.grant, needs.action, call.tenant.noun(params.type ?? ''))
}

function grantFor(tenant: Engine, sender: Sender): Grant | null {
  if (sender.kind === 'operator') return OPERATOR
  if (sender.kind === 'nobody') return null
  const grant = grantOf(tenant, sender.secret)
  if (grant) return grant
  throw unauthorized()
}

/** The one request that needs no key: a tenant's first key, where signing up is open. */
function signUp(tenant: Engine, ask: HttpRequest, place: RequestTarget, options: AppOptions): HttpResponse {
  const path = place.segments.join('/')
  const isFirstKey = ask.method === 'POST' && (path === 'api-keys' || path === 'ApiKey')
  if (!options.signup || !isFirstKey || tenant.head.seq > 0) throw unauthorized()
  const given = parseBody(ask.body as Uint8Array | null)
  // Whatever it asks for: without a key that may do everything, nobody could make another.
  const data = isPlainObject(given) ? { ...given, scopes: 'admin:all' } : given
  const first = runVerb(tenant, { ...OPERATOR, actor: 'signup' }, { type: 'ApiKey', verb: 'create', data })
  return createdAnswer(first, `${place.baseUrl}/~${tenant.slug}`)
}

export function unauthorized(): Problem {
  return new Problem('unauthorized', 'Send a valid key of this service as Authorization: Bearer <key>.')
}
