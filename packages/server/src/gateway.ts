import { Problem } from '@tildebase/nouns'
import { tenantOfSecret } from '@tildebase/tenant'
import { type Sender, unauthorized } from './app.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from './http.ts'
import { refuseForeign } from './mcp/foreign.ts'
import { type RequestObserver, servedRequestOf } from './observer.ts'
import { refusal } from './respond.ts'
import { type RequestTarget, targetOf } from './target.ts'
import { type Trace, traceOf, traceparent } from './trace.ts'

/** The tenants, wherever they are: in this thread, in workers, in Durable Objects. */
export interface Tenants {
  answer(
    slug: string,
    ask: HttpRequest,
    place: RequestTarget,
    sender: Sender,
    requestId: string,
  ): MaybePromise<HttpResponse>
  /** Whether the secret is a valid key of the tenant it names. */
  verify(slug: string, secret: string): Promise<boolean>
}

export interface GatewayOptions {
  readonly tenants: Tenants
  /** The base host: labels before it are the lens. */
  readonly hostSuffix: string
  /** Names beside the base host under which, and for whose pages, MCP is spoken. */
  readonly mcpHosts?: () => readonly string[]
  /** The page for people who come to `/` or to a tenant's own address. */
  readonly home?: string
  readonly isOperator: (secret: string) => boolean
  readonly requestId: () => string
  readonly report: (reason: unknown, requestId: string) => void
  /** Sees every request that was answered. */
  readonly observer?: RequestObserver
  /** Answers paths outside tenants: health, metrics, the console. Null when it knows the path not. */
  readonly outside: (
    ask: HttpRequest,
    segments: readonly string[],
    sender: Sender,
    requestId: string,
  ) => MaybePromise<HttpResponse | null>
}

/** Paths that answer without a tenant prefix: the tenant is then the key's own. */
const DATABASE_PATHS = new Set(['import', 'export', 'sync', 'manifest', 'events'])

const MOST_BEARERS = 1_000

/** Who carries a key. */
interface Bearer {
  /** Null when what the request carries cannot be a key. */
  readonly sender: Sender | null
  /** How logs name the key: its first 8 characters, or `operator`. */
  readonly name: string | null
}

const NOBODY: Bearer = { sender: { kind: 'nobody' }, name: null }
const NO_KEY: Bearer = { sender: null, name: null }

/** A request between its coming and its answer. */
interface Visit {
  readonly ask: HttpRequest
  readonly requestId: string
  readonly trace: Trace | null
  readonly at: number
  readonly begun: number
  readonly bearer: Bearer
  place: RequestTarget | null
}

/** The first door: finds out who asks whom, and passes the request on. Never throws. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #bearers = new Map<string, Bearer>()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  answer(ask: HttpRequest): MaybePromise<HttpResponse> {
    const given = ask.headers['x-request-id']
    const requestId = given !== undefined && /^[\w.-]{1,100}$/.test(given) ? given : this.#options.requestId()
    const visit: Visit = {
      ask,
      requestId,
      trace: traceOf(ask.headers.traceparent, this.#options.observer?.traces === true),
      at: Date.now(),
      begun: performance.now(),
      bearer: this.#bearerOf(ask.headers.authorization),
      place: null,
    }
    const refuse = (reason: unknown) => refusal(reason, requestId, this.#options.report)
    try {
      visit.place = targetOf(ask.scheme, ask.host, ask.path, this.#options.hostSuffix)
      const answer = ask.method === 'OPTIONS' ? preflight(ask) : this.#pass(ask, visit.place, visit.bearer, requestId)
      if (!(answer instanceof Promise)) return this.#finish(visit, answer)
      return answer.catch(refuse).then((late) => this.#finish(visit, late))
    } catch (reason) {
      return this.#finish(visit, refuse(reason))
    }
  }

  /** Shows the answer to the observer, and gives it the headers that every answer has. */
  #finish({ ask, requestId, trace, at, begun, bearer, place }: Visit, answer: HttpResponse): HttpResponse {
    const { observer } = this.#options
    if (observer) {
      const rest = { at, ms: performance.now() - begun, requestId, key: bearer.name, trace }
      observer.observe(servedRequestOf(ask, place, answer, observer.routes, rest))
    }
    const { status, headers, body } = withCommon(answer, requestId, ask.headers.origin)
    return { status, headers: trace ? { ...headers, traceparent: traceparent(trace) } : headers, body }
  }

  #pass(ask: HttpRequest, place: RequestTarget, { sender }: Bearer, requestId: string): MaybePromise<HttpResponse> {
    const { tenants } = this.#options
    if (sender === null) throw unauthorized()
    if (place.tenant !== null && place.segments.length === 1 && place.segments[0] === 'mcp')
      refuseForeign(ask, this.#options.hostSuffix, this.#options.mcpHosts?.() ?? [])
    const home = homeFor(ask, place, this.#options.home)
    if (home !== null) {
      const headers = { location: home, vary: 'accept', 'cache-control': 'no-store' }
      return { status: 302, headers, body: null }
    }
    const outside = place.tenant === null && !DATABASE_PATHS.has(place.segments[0] ?? '')
    if (outside || isDocs(ask, place)) return this.#outside(ask, place, sender, requestId)
    const slug = place.tenant ?? ownTenant(sender)
    if (sender.kind === 'secret' && !sender.secret.endsWith(`~${slug}`)) return this.#refuse(sender.secret)
    return tenants.answer(slug, ask, place, sender, requestId)
  }

  async #outside(
    ask: HttpRequest,
    { segments }: RequestTarget,
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> {
    const answer = await this.#options.outside(ask, segments, sender, requestId)
    if (answer) return answer
    throw new Problem('unknown_path', 'There is nothing here. Tenants live under /~{tenant}.')
  }

  /** Who an Authorization header stands for, as far as it can be told here. Those seen lately are known. */
  #bearerOf(header: string | undefined): Bearer {
    if (header === undefined) return NOBODY
    const known = this.#bearers.get(header)
    if (known) return known
    const secret = /^Bearer +([\w~.+/=-]{1,512}) *$/i.exec(header)?.[1]
    if (secret === undefined) return NO_KEY
    if (this.#options.isOperator(secret)) return { sender: { kind: 'operator' }, name: 'operator' }
    const name = tenantOfSecret(secret) === null ? null : secret.slice(0, 8)
    const bearer: Bearer = { sender: { kind: 'secret', secret }, name }
    if (this.#bearers.size >= MOST_BEARERS) this.#bearers.clear()
    if (name !== null) this.#bearers.set(header, bearer)
    return bearer
  }

  /** A valid key of another tenant is told so, whether or not the tenant asked for exists; any other is unknown. */
  async #refuse(secret: string): Promise<never> {
    const own = tenantOfSecret(secret)
    if (own === null || !(await this.#options.tenants.verify(own, secret))) throw unauthorized()
    throw new Problem('forbidden', 'This key belongs to another tenant.')
  }
}

/** Where a browser finds a page about a tenant, or about the service; programs get an index instead. */
function homeFor({ method, headers }: HttpRequest, { tenant, segments }: RequestTarget, home?: string): string | null {
  if (home === undefined || segments.length > 0 || (method !== 'GET' && method !== 'HEAD')) return null
  if (!headers.accept?.includes('text/html')) return null
  return tenant === null ? home : `${home}#/~${tenant}`
}

/** A browser that asks for `/~{tenant}/docs`; anybody else means a type of that name. */
function isDocs({ headers }: HttpRequest, { segments }: RequestTarget): boolean {
  return segments.length === 1 && segments[0] === 'docs' && headers.accept?.includes('text/html') === true
}

/** The tenant of a database path without prefix: the key's own. */
function ownTenant(sender: Sender): string {
  if (sender.kind === 'operator') {
    throw new Problem(
      'tenant_required',
      'The operator key belongs to no tenant: use the form /~{tenant}/… of this path.',
    )
  }
  const slug = sender.kind === 'secret' ? tenantOfSecret(sender.secret) : null
  if (slug === null) throw unauthorized()
  return slug
}

function preflight(ask: HttpRequest): HttpResponse {
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers':
        ask.headers['access-control-request-headers'] ??
        'authorization, content-type, if-match, if-none-match, idempotency-key, traceparent, x-request-id, x-correlation-id',
      'access-control-max-age': '86400',
    },
    body: null,
  }
}

/** An answer with the headers that every one has. */
export function withCommon(
  { status, headers, body }: HttpResponse,
  requestId: string,
  origin: string | undefined,
): HttpResponse {
  const common = { ...headers, 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
  return { status, headers: origin === undefined ? common : { ...common, ...CROSS_ORIGIN }, body }
}

/** Any page may ask: a key in a header, and never a cookie, is what opens a tenant. */
const CROSS_ORIGIN: HttpResponse['headers'] = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, location, x-request-id, retry-after, idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, traceparent, x-tilde-warnings',
}
