import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { tenantOfSecret, tenantOfSession } from '@tildebase/tenant/internal'
import { isFirstKey, unauthorized } from './app.ts'
import {
  type Body,
  type HttpRequest,
  type HttpResponse,
  isLasting,
  type MaybePromise,
  preflight,
  runsCode,
  withCommon,
  withOwnMethod,
} from './http.ts'
import { sessionCookie } from './identity/cookie.ts'
import { challenge, type OwnTarget, serverMetadataTarget } from './identity/metadata.ts'
import type { Admission, Connection } from './limits/admission.ts'
import { refuseForeign } from './mcp/foreign.ts'
import { refusal } from './respond.ts'
import { isOpenPath, type RequestTarget, targetOf } from './target.ts'
import type { Sender, TenantCall } from './tenant-call.ts'
import { type RequestObserver, servedRequestOf } from './watch/observer.ts'
import { type Trace, traceOf, traceparent } from './watch/trace.ts'

/** The tenants, wherever they are: in this thread, in workers, in Durable Objects. */
export interface Tenants {
  handle(call: TenantCall): MaybePromise<HttpResponse>
  /** Whether the secret is a valid key of the tenant it names. */
  verify(slug: string, secret: string): Promise<boolean>
}

export interface GatewayOptions {
  readonly tenants: Tenants
  /** Whether sign-up is open: everyone may create a new tenant with its first key. */
  readonly signup: boolean
  /** Refuses requests before their body is read; absent where the platform does so, or where there is one caller. */
  readonly admission?: Admission
  /** The base host: labels before it are the lens. */
  readonly hostSuffix: string
  /** Names in addition to the base host under which, and for whose pages, MCP is spoken. */
  readonly mcpHosts?: () => readonly string[]
  /** The page for people who come to `/` or to a tenant's own address. */
  readonly home?: string
  /** Whether a path outside tenants takes a body without a key. */
  readonly takesBody?: (request: HttpRequest, segments: readonly string[]) => boolean
  readonly isOperator: (secret: string) => boolean
  readonly requestId: () => string
  readonly report: (reason: unknown, requestId: string) => void
  /** Pages and documents about signing in that need no tenant; null for every other path. */
  readonly pages?: (request: HttpRequest, target: RequestTarget) => HttpResponse | null
  /** Sees every request that was answered. */
  readonly observer?: RequestObserver
  /** Answers paths outside tenants: health, metrics, the console. Null when it does not know the path. */
  readonly outside: (
    request: HttpRequest,
    segments: readonly string[],
    sender: Sender,
    requestId: string,
  ) => MaybePromise<HttpResponse | null>
}

/** Paths that answer without a tenant prefix: the tenant is then the key's own. */
const DATABASE_PATHS = new Set(['import', 'export', 'sync', 'manifest', 'events'])

const MOST_BEARERS = 1_000

/** Only the browser of the person may keep an answer, and it asks before it shows it again. */
const PRIVATE = { 'cache-control': 'private, no-cache' }

/** Who carries a key. */
interface Bearer {
  /** Null when what the request carries cannot be a key. */
  readonly sender: Sender | null
  /** How logs name the key: its first 8 characters, or `operator`. */
  readonly name: string | null
}

const ANONYMOUS: Bearer = { sender: { kind: 'anonymous' }, name: null }
const NO_KEY: Bearer = { sender: null, name: null }

/** A request between its arrival and its answer. */
interface Exchange {
  readonly request: HttpRequest
  readonly requestId: string
  readonly trace: Trace | null
  readonly at: number
  readonly begun: number
  readonly bearer: Bearer
  readonly connection: Connection | null
  target: RequestTarget | null
}

/** The first door: finds the tenant and the key, and passes the request on. Never throws. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #bearers = new BoundedMap<string, Bearer>(MOST_BEARERS)

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  /** Answers a request. The body is that of `asked`, or is read from the connection once the headers are admitted. */
  answer(asked: HttpRequest, connection: Connection | null = null): MaybePromise<HttpResponse> {
    const request = withOwnMethod(asked)
    const given = request.headers['x-request-id']
    const requestId = given !== undefined && /^[\w.-]{1,100}$/.test(given) ? given : this.#options.requestId()
    const isTraced = request.headers.traceparent !== undefined || this.#options.observer?.traces === true
    const exchange: Exchange = {
      request,
      requestId,
      trace: isTraced ? traceOf(request.headers.traceparent, this.#options.observer?.traces === true) : null,
      at: Date.now(),
      begun: performance.now(),
      bearer: this.#bearerOf(request.headers, connection?.address),
      connection,
      target: null,
    }
    try {
      exchange.target = targetOf(request.scheme, request.host, request.path, this.#options.hostSuffix)
      const answer = request.method === 'OPTIONS' ? preflight(request) : this.#route(exchange, exchange.target)
      if (!(answer instanceof Promise)) return this.#finish(exchange, answer)
      return answer.then(
        (late) => this.#finish(exchange, late),
        (reason) => this.#refused(exchange, reason),
      )
    } catch (reason) {
      return this.#refused(exchange, reason)
    }
  }

  #refused(exchange: Exchange, reason: unknown): HttpResponse {
    return this.#finish(exchange, refusal(reason, exchange.requestId, this.#options.report))
  }

  /** Shows the answer to the observer, and gives it the headers that every answer has. */
  #finish({ request, requestId, trace, at, begun, bearer, target }: Exchange, answer: HttpResponse): HttpResponse {
    const { observer } = this.#options
    if (observer) {
      const rest = { at, ms: performance.now() - begun, requestId, key: bearer.name, trace }
      observer.observe(servedRequestOf(request, target, answer, observer.routes, rest))
    }
    const kind = bearer.sender?.kind
    const challenged = answer.status === 401 && target?.tenant ? challenge(answer, target, kind) : answer
    // Caches keep no answers to an Authorization header for others, but they may do so for a cookie.
    const own = kind === 'session' ? { ...challenged, headers: { ...PRIVATE, ...challenged.headers } } : challenged
    const whole = withCommon(own, requestId, request.headers.origin)
    return trace ? { ...whole, headers: { ...whole.headers, traceparent: traceparent(trace) } } : whole
  }

  #route(exchange: Exchange, target: RequestTarget): MaybePromise<HttpResponse> {
    const { request, bearer, requestId } = exchange
    const { sender } = bearer
    const page = this.#options.pages?.(request, target)
    const own = page && serverMetadataTarget(target)
    if (page) return own ? this.#orOfTenant(exchange, own, page) : page
    if (sender === null) throw this.#keyless()
    if (target.tenant !== null && target.segments.length === 1 && target.segments[0] === 'mcp')
      refuseForeign(request, this.#options.hostSuffix, this.#options.mcpHosts?.() ?? [])
    const isBrowser = request.headers.accept?.includes('text/html') === true
    const home = isBrowser ? homeFor(request, target, this.#options.home) : null
    if (home !== null) {
      const headers = { location: home, vary: 'accept', 'cache-control': 'no-store' }
      return { status: 302, headers, body: null }
    }
    const outside = target.tenant === null && !DATABASE_PATHS.has(target.segments[0] ?? '')
    if (outside || (isBrowser && isDocs(target))) {
      // Few requests but the operator's have a body that is of use here.
      const isOpen = sender.kind !== 'operator' && this.#options.takesBody?.(request, target.segments) === true
      if (sender.kind !== 'operator' && !isOpen)
        return this.#outside({ ...request, body: null }, target, sender, requestId)
      return this.#withBody(exchange, isOpen ? 'witness' : 'operator', (whole) =>
        this.#outside(whole, target, sender, requestId),
      )
    }
    const call: TenantCall = { slug: target.tenant ?? ownTenant(sender), request, target, sender, requestId }
    const admitted = this.#admit(call, exchange.connection?.address ?? '')
    return admitted instanceof Promise ? admitted.then(() => this.#enter(exchange, call)) : this.#enter(exchange, call)
  }

  /**
   * A page, or the tenant's own words in its place: a tenant with people describes more of itself. One without people
   * and one that does not exist have the same page.
   */
  async #orOfTenant(exchange: Exchange, target: OwnTarget, page: HttpResponse): Promise<HttpResponse> {
    const { request, requestId, connection } = exchange
    const address = connection?.address
    const sender: Sender = { kind: 'anonymous', ...(address !== undefined && { address }) }
    const call: TenantCall = { slug: target.tenant, request, target, sender, requestId }
    try {
      await this.#admit(call, address ?? '')
      const answer = await this.#enter(exchange, call)
      return answer.status === 401 ? page : answer
    } catch (reason) {
      if (reason instanceof Problem && reason.code === 'unauthorized') return page
      throw reason
    }
  }

  /** Refuses a request that cannot be allowed, by its headers. */
  #admit({ slug, request, target: { segments }, sender }: TenantCall, address: string): MaybePromise<void> {
    const { signup, admission } = this.#options
    if (sender.kind === 'operator') return admission?.admitOperator(slug)
    if (sender.kind !== 'secret' && isOpenPath(segments)) return admission?.admitOpen(slug, address)
    if (sender.kind === 'anonymous') {
      if (!signup || !isFirstKey(request.method, segments)) throw this.#keyless()
      return admission?.admitSignup(slug, address)
    }
    if (!sender.secret.endsWith(`~${slug}`)) return this.#refuse(sender.secret, address)
    return admission?.admitKey(slug, sender.secret, address)
  }

  #keyless(): Problem {
    this.#options.admission?.refusedKeyless()
    return unauthorized()
  }

  /** Counts an admitted request until its answer has left, reads its body and passes it on to the tenant. */
  #enter(exchange: Exchange, call: TenantCall): MaybePromise<HttpResponse> {
    const { admission } = this.#options
    const { request, connection } = exchange
    if (connection && admission) connection.onEnd(admission.enter(call))
    const body = connection === null ? request.body : connection.readBody(call.slug)
    if (body instanceof Promise) return this.#passLater(call, request, body, connection)
    const answer = this.#pass(call, body === request.body ? request : { ...request, body }, connection)
    return answer instanceof Promise ? answer.then((late) => this.#passed(call, late)) : this.#passed(call, answer)
  }

  async #passLater(
    call: TenantCall,
    request: HttpRequest,
    body: Promise<Body>,
    connection: Connection | null,
  ): Promise<HttpResponse> {
    return this.#passed(call, await this.#pass(call, { ...request, body: await body }, connection))
  }

  /** Passes a request on to its tenant, with its body. */
  #pass(call: TenantCall, request: HttpRequest, connection: Connection | null): MaybePromise<HttpResponse> {
    const whole = withSignal(request, call.target, connection)
    return this.#options.tenants.handle(whole === call.request ? call : { ...call, request: whole })
  }

  /** Lets the admission know how a tenant answered. */
  #passed({ slug, request, target, sender }: TenantCall, answer: HttpResponse): HttpResponse {
    const { admission } = this.#options
    if (answer.status === 401 && 'secret' in sender && !isOpenPath(target.segments))
      admission?.refusedKey(slug, sender.secret)
    else if (request.method !== 'GET') admission?.wrote(slug)
    return answer
  }

  /** Continues with the body: that of the request, or the one that is read from its connection now. */
  #withBody(
    { request, connection }: Exchange,
    tenant: string,
    goOn: (request: HttpRequest) => MaybePromise<HttpResponse>,
  ): MaybePromise<HttpResponse> {
    const body = connection === null ? request.body : connection.readBody(tenant)
    if (body instanceof Promise) return body.then((whole) => goOn({ ...request, body: whole }))
    return goOn(body === request.body ? request : { ...request, body })
  }

  async #outside(
    request: HttpRequest,
    { segments }: RequestTarget,
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> {
    const answer = await this.#options.outside(request, segments, sender, requestId)
    if (answer) return answer
    throw new Problem('unknown_path', 'This path does not exist. Tenants are at /~{tenant}.')
  }

  /** The caller of an Authorization header, as far as it is known here. Recent results are cached. */
  #bearerOf({ authorization: header, cookie }: HttpRequest['headers'], address?: string): Bearer {
    if (header === undefined) {
      const session = sessionCookie(cookie)
      if (session !== null && tenantOfSession(session) !== null)
        return { sender: { kind: 'session', secret: session, ...(address && { address }) }, name: 'session' }
      return address === undefined ? ANONYMOUS : { sender: { kind: 'anonymous', address }, name: null }
    }
    const known = this.#bearers.get(header)
    if (known) return known
    const secret = /^Bearer +([\w~.+/=-]{1,512}) *$/i.exec(header)?.[1]
    // A session is a cookie's matter: a header would make it a key that never asks for the page's own token.
    if (secret === undefined || tenantOfSession(secret) !== null) return NO_KEY
    const isOperator = this.#options.isOperator(secret)
    const name = isOperator ? 'operator' : tenantOfSecret(secret) === null ? null : secret.slice(0, 8)
    const bearer: Bearer = { sender: isOperator ? { kind: 'operator' } : { kind: 'secret', secret }, name }
    if (name !== null) this.#bearers.set(header, bearer)
    return bearer
  }

  /** A valid key of another tenant gets 403, whether or not the requested tenant exists; any other key is unknown. */
  async #refuse(secret: string, address: string): Promise<never> {
    const { tenants, admission } = this.#options
    const own = tenantOfSecret(secret) ?? tenantOfSession(secret)
    if (own === null) throw this.#keyless()
    await admission?.admitKey(own, secret, address)
    if (!admission && !(await tenants.verify(own, secret))) throw unauthorized()
    throw new Problem('forbidden', 'This key belongs to another tenant.')
  }
}

/** The request, with word of its client leaving where that ends work. */
function withSignal(request: HttpRequest, { segments }: RequestTarget, connection: Connection | null): HttpRequest {
  if (connection === null || !(isLasting(request, segments) || runsCode(request, segments))) return request
  const left = new AbortController()
  connection.onClose(() => left.abort())
  return { ...request, signal: left.signal }
}

/** Where a browser finds a page about a tenant, or about the service; programs get an index instead. */
function homeFor({ method }: HttpRequest, { tenant, segments }: RequestTarget, home?: string): string | null {
  if (home === undefined || segments.length > 0 || (method !== 'GET' && method !== 'HEAD')) return null
  return tenant === null ? home : `${home}#/~${tenant}`
}

/** A browser that opens `/~{tenant}/docs`; for other clients it is a type of that name. */
function isDocs({ segments }: RequestTarget): boolean {
  return segments.length === 1 && segments[0] === 'docs'
}

/** The tenant of a database path without prefix: the key's own. */
function ownTenant(sender: Sender): string {
  if (sender.kind === 'operator') {
    throw new Problem('tenant_required', 'The operator key belongs to no tenant. Use the path /~{tenant}/….')
  }
  const slug =
    sender.kind === 'secret'
      ? tenantOfSecret(sender.secret)
      : sender.kind === 'session'
        ? tenantOfSession(sender.secret)
        : null
  if (slug === null) throw unauthorized()
  return slug
}
