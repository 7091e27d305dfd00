import { Problem } from '@tildebase/nouns'
import { unauthorized } from '../doors/app.ts'
import type { Tenants } from '../doors/gateway.ts'
import type { HttpRequest, HttpResponse } from '../doors/http.ts'
import type { Sender, TenantCall } from '../doors/tenant-call.ts'
import { systemSeal } from '../host/ports.ts'
import type { Directory } from './directory.ts'
import type { ObjectNamespace, RateLimiter } from './env.ts'
import { commandRequest, type ObjectCommand, type ObjectTask } from './object/object-command.ts'

interface DurableTenantsOptions {
  readonly signup: boolean
  readonly directory: Directory | null
  readonly rate: RateLimiter | undefined
}

/** The tenants, each in its own Durable Object, found by its slug. */
export class DurableTenants implements Tenants {
  readonly #namespace: ObjectNamespace
  readonly #options: DurableTenantsOptions

  constructor(namespace: ObjectNamespace, options: DurableTenantsOptions) {
    this.#namespace = namespace
    this.#options = options
  }

  async handle({ request, ...call }: TenantCall): Promise<HttpResponse> {
    await this.#demandRate(call.slug, call.sender)
    await this.#demandKnown(call.slug, request, call.sender)
    return this.#send({ do: 'handle', ...call }, request)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    if (!(await this.#isKnown(slug))) return false
    return (await this.#send({ do: 'verify', slug, secret }, null)).status === 200
  }

  /** Does what the operator asks of a tenant as a whole. */
  task(slug: string, task: ObjectTask, request: HttpRequest, requestId: string): Promise<HttpResponse> {
    return this.#send({ do: 'task', slug, task, requestId }, request)
  }

  /** Refuses a key, or an address without one, that asks too often. The operator is not counted. */
  async #demandRate(slug: string, sender: Sender): Promise<void> {
    const { rate } = this.#options
    if (!rate || sender.kind === 'operator') return
    const who = 'secret' in sender ? systemSeal.sha256(sender.secret) : (sender.address ?? '')
    const key = `${slug} ${typeof who === 'string' ? who : Buffer.from(who).toString('base64url')}`
    if ((await rate.limit({ key })).success) return
    throw new Problem('rate_limited', 'This key asks too often. Try again in a minute.', { retryAfter: 60 })
  }

  /** An unknown slug creates no object, because an object creates its database. */
  async #demandKnown(slug: string, { method }: HttpRequest, sender: Sender): Promise<void> {
    if (sender.kind === 'operator') return
    const isFirst = sender.kind === 'anonymous' && this.#options.signup && method === 'POST'
    if (!isFirst && !(await this.#isKnown(slug))) throw unauthorized()
  }

  async #isKnown(slug: string): Promise<boolean> {
    return (await this.#options.directory?.has(slug)) ?? true
  }

  async #send(command: ObjectCommand, request: HttpRequest | null): Promise<HttpResponse> {
    const object = this.#namespace.get(this.#namespace.idFromName(command.slug))
    try {
      const { status, headers, body } = await object.fetch(commandRequest(command, request))
      return { status, headers: Object.fromEntries(headers), body: body as HttpResponse['body'] }
    } catch (reason) {
      throw absent(reason)
    }
  }
}

/** The platform marks temporary errors: an object that is moved, restarted or overloaded. */
function absent(reason: unknown): unknown {
  const { overloaded, retryable } = reason as { overloaded?: boolean; retryable?: boolean }
  if (overloaded) return new Problem('busy', 'This tenant is overloaded. Try again in a moment.', { retryAfter: 5 })
  if (retryable)
    return new Problem('unavailable', 'This tenant is being moved. Try again in a moment.', { retryAfter: 1 })
  return reason
}
