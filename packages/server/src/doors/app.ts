import { isPlainObject, Problem, resolveLens } from '@tildebase/nouns'
import { Budget, type BudgetLimits, type Grant, OPERATOR, type Tenant } from '@tildebase/tenant'
import { type Call, type Match, type OtherPart, parseBody, readQuery, type WriteRoute } from './call.ts'
import { findRoute, runRoute, segmentsIn } from './dispatch.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from './http.ts'
import type { IdentityPorts } from './identity/ports.ts'
import type { RateLimit, Turn } from './limits/rate.ts'
import { createdReply, type Reply, render } from './reply.ts'
import { refusal } from './respond.ts'
import type { Routes } from './route.ts'
import { isLinkPath, isOpenPath, type RequestTarget } from './target.ts'
import type { Sender, TenantCall } from './tenant-call.ts'
import { traceOf } from './watch/trace.ts'

/** What the app needs in addition to the tenant. */
export interface AppOptions {
  readonly routes: Routes
  /** Whether sign-up is open: everyone may create a new tenant with its first key. */
  readonly signup: boolean
  readonly report: (reason: unknown, requestId: string) => void
  /** How often a key may ask; absent is as often as it likes. */
  readonly rate?: RateLimit | undefined
  /** How many bytes an import may have, after inflation; 1 GiB when absent. */
  readonly importLimit?: number
  /** {base_url} as the operator has set it; absent means the address that a request came to. */
  readonly baseUrl?: string | null
  /** What one request may use. */
  readonly budget?: BudgetLimits
  /** What the host offers to sign people in with. */
  readonly identity?: IdentityPorts
  /** Reads another tenant for a caller of this one, with a credential of that tenant; absent where there is one tenant. */
  readonly readOther?: (call: TenantCall) => MaybePromise<HttpResponse>
}

const IMPORT_LIMIT = 1_073_741_824
const BUDGET: BudgetLimits = { ms: 5_000, rows: 1_000_000, bytes: 33_554_432 }

const now = () => performance.now()

/** The milliseconds that this thread has worked, where the host counts them. */
const cpu = knowsCpu() ? cpuOfThread : now

/** Some hosts do not have the function, and workerd has one that throws. */
function knowsCpu(): boolean {
  try {
    return cpuOfThread() >= 0
  } catch {
    return false
  }
}

function cpuOfThread(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Answers a request inside a tenant. Never throws. */
export function handleRequest(tenant: Tenant, call: TenantCall, options: AppOptions): MaybePromise<HttpResponse> {
  try {
    const grant = grantFor(tenant, call, options)
    const turn = grant === null || grant === ANONYMOUS ? undefined : options.rate?.take(`${tenant.slug} ${grant.actor}`)
    if (!turn) return dispatch(tenant, grant, call, options)
    if (turn.refused) return counted(turn, refusal(turn.refused, call.requestId, options.report))
    const given = dispatch(tenant, grant, call, options)
    return given instanceof Promise ? given.then((late) => counted(turn, late)) : counted(turn, given)
  } catch (reason) {
    return refusal(reason, call.requestId, options.report)
  }
}

/** An answer that says how often the key may ask. */
function counted(turn: Turn, response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, ...turn.headers } }
}

/** Finds the route of a request and runs it. Never throws. */
function dispatch(
  tenant: Tenant,
  grant: Grant | null,
  call: TenantCall,
  options: AppOptions,
): MaybePromise<HttpResponse> {
  try {
    if (grant === null) return renderedLater(signUp(tenant, call, options), '', call, options)
    const segments = segmentsIn(tenant, call.target.segments)
    const { route: first, params } = findRoute(options.routes, call.request.method, segments)
    const route = first.instead?.(call.request, params, tenant.nouns) ?? first
    const reply = runRoute(route, callOf(tenant, grant, call, { route, params }, options))
    const { path } = route
    return reply instanceof Promise ? renderedLater(reply, path, call, options) : render(reply, path)
  } catch (reason) {
    return refusal(reason, call.requestId, options.report)
  }
}

async function renderedLater(
  reply: Promise<Reply>,
  path: string,
  { requestId }: TenantCall,
  { report }: AppOptions,
): Promise<HttpResponse> {
  try {
    return render(await reply, path)
  } catch (reason) {
    return refusal(reason, requestId, report)
  }
}

/** What a route is given. */
function callOf(
  tenant: Tenant,
  grant: Grant,
  { request, target, sender, requestId }: TenantCall,
  { route, params }: Match,
  options: AppOptions,
): Call {
  const limits = options.budget ?? BUDGET
  const budget = new Budget(route.mode === 'write' ? inOneCommit(route, limits) : limits, now, cpu)
  const context = `${options.baseUrl ?? target.baseUrl}/~${tenant.slug}`
  const { traceparent } = request.headers
  const lens = resolveLens(target.dimensions)
  return {
    tenant,
    grant,
    sender,
    identity: options.identity ?? {},
    budget,
    newBudget: () => new Budget(limits, now),
    read: tenant.read(grant, budget, context),
    request,
    routes: options.routes,
    lens,
    params,
    query: readQuery(request.query),
    body: route.rawBody || request.body === null ? undefined : plainBody(request),
    context,
    address: `${target.baseUrl}/~${tenant.slug}`,
    requestId,
    writes: {
      correlation: correlationOf(request),
      trace: traceparent === undefined ? null : traceIn(traceparent),
      secrets: new Set(),
      context,
      lens,
    },
    importLimit: options.importLimit ?? IMPORT_LIMIT,
    readOther: (slug, path, reader, part) =>
      readOther(slug, path, reader, part, { request, target, sender, requestId }, options),
    report: (reason) => options.report(reason, requestId),
  }
}

/** What another tenant answers to a GET with this credential. */
async function readOther(
  slug: string,
  path: string,
  sender: Sender,
  { query = '', range }: OtherPart = {},
  { request, target, requestId }: Omit<TenantCall, 'slug'>,
  options: AppOptions,
): Promise<HttpResponse> {
  if (!options.readOther) throw new Problem('not_supported', 'This host cannot read another tenant.')
  const headers = range === undefined ? {} : { range }
  const inner = { ...request, method: 'GET', path: `/~${slug}/${path}`, query, headers, body: null }
  const { signal: _, ...plain } = inner
  return options.readOther({
    slug,
    request: plain,
    target: { ...target, tenant: slug, segments: path.split('/') },
    sender,
    requestId,
  })
}

/** What a write may use: nothing else can use the thread before its commit. */
function inOneCommit({ commitMs }: WriteRoute, limits: BudgetLimits): BudgetLimits {
  return commitMs === undefined || limits.ms <= commitMs ? limits : { ...limits, ms: commitMs }
}

/** `$context` of the entities in an answer. */
function contextOf({ slug }: Tenant, { baseUrl }: RequestTarget, options: AppOptions): string {
  return `${options.baseUrl ?? baseUrl}/~${slug}`
}

/** What JSON is sent as; the last two are what `curl -d` and simple clients name when they say nothing. */
const JSON_TYPES =
  /^(?:application\/json|[\w.!#$&^+-]+\/[\w.!#$&^+-]+\+json|text\/plain|application\/x-www-form-urlencoded)$/i

/** The JSON of a body, which only an import takes zipped. */
function plainBody({ body, headers }: HttpRequest): unknown {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim()
  if (type !== '' && body !== null && !JSON_TYPES.test(type) && !isEmpty(body))
    throw new Problem('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json.', {
      field: 'Content-Type',
    })
  if (isStream(body))
    throw new Problem('too_large', `JSON may have at most ${JSON_LIMIT}. Use /import for more.`, { limit: JSON_LIMIT })
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  if (body === null || encoding === 'identity') return parseBody(body)
  throw new Problem(
    'unsupported_media_type',
    'Only imports support Content-Encoding. Send the body without compression.',
    {
      field: 'Content-Encoding',
    },
  )
}

/** The largest body of JSON that hosts read, in words. */
const JSON_LIMIT = '10 MiB'

function isStream(body: HttpRequest['body']): body is AsyncIterable<Uint8Array> {
  return body !== null && !(body instanceof Uint8Array)
}

function isEmpty(body: HttpRequest['body']): boolean {
  return body instanceof Uint8Array && body.length === 0
}

/** The trace that a request belongs to, as its id and flags: deliveries of what it writes continue with it. */
function traceIn(header: string): string | null {
  const trace = traceOf(header, false)
  return trace && `${trace.id}-${trace.sampled ? '01' : '00'}`
}

/** The correlation that the client requests, if it is valid. That of a changeset is given to what its approval writes alone. */
function correlationOf({ headers }: HttpRequest): string | null {
  const given = headers['x-correlation-id']
  return given !== undefined && /^(?!changeset_)[\w.:-]{1,100}$/.test(given) ? given : null
}

/** The grant of requests that need no key: to sign in, or to read how to sign in. */
const ANONYMOUS: Grant = { actor: 'anonymous', scopes: [], rows: {} }

function grantFor(
  tenant: Tenant,
  { request, target: { segments }, sender }: TenantCall,
  { routes }: AppOptions,
): Grant | null {
  if (sender.kind === 'operator') return OPERATOR
  const found = isOpenPath(segments) ? routes.find(request.method, segments) : null
  // In a tenant without people no sign-in is possible: an attempt does not create the tenant.
  const needsNoKey = found !== null && 'route' in found && found.route.needs === 'no key'
  const isOpen = needsNoKey && (isLinkPath(segments) || tenant.identity.hasPeople)
  if (sender.kind === 'anonymous') return isOpen ? ANONYMOUS : null
  if (sender.kind === 'session') {
    const grant = tenant.identity.session(sender.secret)
    if (isOpen) return grant ?? ANONYMOUS
    if (!grant) throw unauthorized()
    if (isWriting(request.method)) demandCsrf(tenant, request, sender.secret)
    return grant
  }
  const grant = tenant.identify(sender.secret)
  if (!grant) throw unauthorized()
  if (grant.only === undefined || grant.only === segments[0]) return grant
  throw new Problem('unauthorized', `This token is valid for /${grant.only} only, because of its resource indicator.`)
}

/** A page of another site can make a browser send a cookie, but it cannot know this token. */
function demandCsrf({ identity }: Tenant, { headers }: HttpRequest, secret: string): void {
  if (identity.isCsrf(secret, headers['x-tilde-csrf'] ?? '')) return
  throw new Problem(
    'forbidden',
    'A write with a session needs the header X-Tilde-CSRF. GET …/session returns its value.',
    {
      field: 'X-Tilde-CSRF',
    },
  )
}

function isWriting(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** The one request that needs no key: a tenant's first key, where signing up is open. */
async function signUp(tenant: Tenant, { request, target }: TenantCall, options: AppOptions): Promise<Reply> {
  if (!options.signup || !isFirstKey(request.method, target.segments)) throw unauthorized()
  const given = plainBody(request)
  // Whatever it asks for: without a key that may do everything, none could make another.
  const data = isPlainObject(given) ? { ...given, scopes: 'admin:all' } : given
  const budget = new Budget(options.budget ?? BUDGET, now)
  const context = contextOf(tenant, target, options)
  return tenant.write({ ...OPERATOR, actor: 'signup' }, { context }, budget, (write) => {
    if (tenant.exists) throw unauthorized()
    return createdReply(write.run({ type: 'ApiKey', verb: 'create', data }), context)
  })
}

/** Whether a request asks for the first key of a tenant. */
export function isFirstKey(method: string, segments: readonly string[]): boolean {
  return method === 'POST' && segments.length === 1 && (segments[0] === 'api-keys' || segments[0] === 'ApiKey')
}

export function unauthorized(): Problem {
  return new Problem('unauthorized', 'Send a valid key of this service as Authorization: Bearer <key>.')
}
