import { Problem } from '@tildebase/nouns'
import { tenantOfSecret } from '@tildebase/tenant'
import { type Sender, unauthorized } from './app.ts'
import type { Answer, Ask } from './ask.ts'
import { locate, type Place } from './locate.ts'
import { refusal } from './respond.ts'
import { traceOf, traceparent } from './trace.ts'
import { servedOf, type Watch } from './watch.ts'

/** The tenants, wherever they are: in this thread, in workers, in Durable Objects. */
export interface Tenants {
  answer(slug: string, ask: Ask, place: Place, sender: Sender, requestId: string): Promise<Answer>
  /** Whether the secret is a valid key of the tenant it names. */
  verify(slug: string, secret: string): Promise<boolean>
}

export interface GatewayOptions {
  readonly tenants: Tenants
  /** The base host: labels before it are the lens. */
  readonly hostSuffix: string
  readonly isOperator: (secret: string) => boolean
  readonly requestId: () => string
  readonly report: (reason: unknown, requestId: string) => void
  /** Hears of every request that was answered. */
  readonly watch?: Watch
  /** Answers paths outside tenants: health, metrics, the console. Null when it knows the path not. */
  readonly outside: (ask: Ask, segments: readonly string[], sender: Sender) => Promise<Answer | null> | Answer | null
}

/** Paths that answer without a tenant prefix: the tenant is then the key's own. */
const DATABASE_PATHS = new Set(['import', 'export', 'sync', 'manifest', 'events'])

/** The first door: finds out who asks whom, and passes the request on. Never throws. */
export class Gateway {
  readonly #options: GatewayOptions

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  async answer(ask: Ask): Promise<Answer> {
    const { watch, report } = this.#options
    const given = ask.headers['x-request-id']
    const requestId = given !== undefined && /^[\w.-]{1,100}$/.test(given) ? given : this.#options.requestId()
    const trace = traceOf(ask.headers.traceparent, watch?.traces === true)
    const at = Date.now()
    const begun = performance.now()
    const secret = secretOf(ask)
    let place: Place | null = null
    let answer: Answer
    try {
      place = locate(ask.scheme, ask.host, ask.path, this.#options.hostSuffix)
      answer = ask.method === 'OPTIONS' ? preflight(ask) : await this.#pass(ask, place, secret, requestId)
    } catch (reason) {
      answer = refusal(reason, requestId, report)
    }
    const ms = performance.now() - begun
    if (watch) {
      const rest = { at, ms, requestId, key: this.#keyOf(secret), trace }
      watch.hear(servedOf(ask, place, answer, watch.routes, rest))
    }
    const headers: Record<string, string> = {
      ...answer.headers,
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
    }
    if (trace) headers.traceparent = traceparent(trace)
    if (ask.headers.origin !== undefined) Object.assign(headers, CROSS_ORIGIN)
    return { status: answer.status, headers, body: answer.body }
  }

  #pass(ask: Ask, place: Place, secret: Secret, requestId: string): Promise<Answer> {
    const { tenants } = this.#options
    const sender = this.#senderOf(secret)
    const outside = place.tenant === null && !DATABASE_PATHS.has(place.segments[0] ?? '')
    if (outside || isDocs(ask, place)) return this.#outside(ask, place, sender)
    const slug = place.tenant ?? ownTenant(sender)
    if (sender.kind === 'secret' && !sender.secret.endsWith(`~${slug}`)) return this.#refuse(sender.secret)
    return tenants.answer(slug, ask, place, sender, requestId)
  }

  async #outside(ask: Ask, { segments }: Place, sender: Sender): Promise<Answer> {
    const answer = await this.#options.outside(ask, segments, sender)
    if (answer) return answer
    throw new Problem('unknown_path', 'There is nothing here. Tenants live under /~{tenant}.')
  }

  /** How logs name the key of a request. */
  #keyOf(secret: Secret): string | null {
    if (secret === null || secret === undefined) return null
    if (tenantOfSecret(secret) !== null) return secret.slice(0, 8)
    return this.#options.isOperator(secret) ? 'operator' : null
  }

  #senderOf(secret: Secret): Sender {
    if (secret === null) return { kind: 'nobody' }
    if (secret === undefined) throw unauthorized()
    return this.#options.isOperator(secret) ? { kind: 'operator' } : { kind: 'secret', secret }
  }

  /** A valid key of another tenant is told so, whether or not the tenant asked for exists; any other is unknown. */
  async #refuse(secret: string): Promise<never> {
    const own = tenantOfSecret(secret)
    if (own === null || !(await this.#options.tenants.verify(own, secret))) throw unauthorized()
    throw new Problem('forbidden', 'This key belongs to another tenant.')
  }
}

/** A browser that asks for `/~{tenant}/docs`; anybody else means a type of that name. */
function isDocs({ headers }: Ask, { segments }: Place): boolean {
  return segments.length === 1 && segments[0] === 'docs' && headers.accept?.includes('text/html') === true
}

/** The secret that a request carries: null when it carries none, undefined when what it carries is not one. */
type Secret = string | null | undefined

function secretOf(ask: Ask): Secret {
  const header = ask.headers.authorization
  return header === undefined ? null : /^Bearer +([\w~.+/=-]{1,512}) *$/i.exec(header)?.[1]
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

function preflight(ask: Ask): Answer {
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

/** Any page may ask: a key in a header, and never a cookie, is what opens a tenant. */
const CROSS_ORIGIN: Answer['headers'] = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'etag, location, x-request-id, retry-after, idempotency-replayed, ratelimit-limit, ratelimit-remaining, ratelimit-reset, traceparent',
}
