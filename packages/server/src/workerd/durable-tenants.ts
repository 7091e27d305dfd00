import { Problem } from '@tildebase/nouns'
import type { Tenants } from '../gateway.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import type { Sender } from '../sender.ts'
import type { RequestTarget } from '../target.ts'
import type { TenantObjects } from './env.ts'
import { commandRequest, type ObjectCommand, type ObjectTask } from './object-command.ts'

/** The tenants, each in its own Durable Object, found by its slug. */
export class DurableTenants implements Tenants {
  readonly #namespace: TenantObjects

  constructor(namespace: TenantObjects) {
    this.#namespace = namespace
  }

  answer(
    slug: string,
    ask: HttpRequest,
    target: RequestTarget,
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> {
    return this.#send({ do: 'answer', slug, target, sender, requestId }, ask)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    return (await this.#send({ do: 'verify', slug, secret }, null)).status === 200
  }

  /** Does what the operator asks of a tenant as a whole. */
  runTask(slug: string, task: ObjectTask, ask: HttpRequest, requestId: string): Promise<HttpResponse> {
    return this.#send({ do: 'task', slug, task, requestId }, ask)
  }

  async #send(command: ObjectCommand, ask: HttpRequest | null): Promise<HttpResponse> {
    const object = this.#namespace.get(this.#namespace.idFromName(command.slug))
    try {
      const { status, headers, body } = await object.fetch(commandRequest(command, ask))
      return { status, headers: Object.fromEntries(headers), body: body as HttpResponse['body'] }
    } catch (reason) {
      throw absent(reason)
    }
  }
}

/** The platform marks what passes by itself: an object that is moved or restarted, or has too much to do. */
function absent(reason: unknown): unknown {
  const { overloaded, retryable } = reason as { overloaded?: boolean; retryable?: boolean }
  if (overloaded)
    return new Problem('busy', 'This tenant has too much to do. Try again in a moment.', { retryAfter: 5 })
  if (retryable)
    return new Problem('unavailable', 'This tenant is being moved. Try again in a moment.', { retryAfter: 1 })
  return reason
}
