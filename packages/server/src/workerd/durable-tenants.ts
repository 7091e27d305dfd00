import type { DurableObjectNamespace } from 'cloudflare:workers'
import { Problem } from '@tildebase/nouns'
import type { Sender } from '../app.ts'
import type { Answer, Ask } from '../ask.ts'
import type { Tenants } from '../gateway.ts'
import type { Place } from '../locate.ts'
import { type Errand, errandRequest, type Task } from './errand.ts'

/** The tenants, each in a Durable Object of its own, found by its slug. */
export class DurableTenants implements Tenants {
  readonly #namespace: DurableObjectNamespace

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace
  }

  answer(slug: string, ask: Ask, place: Place, sender: Sender, requestId: string): Promise<Answer> {
    return this.#send({ do: 'answer', slug, place, sender, requestId }, ask)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    return (await this.#send({ do: 'verify', slug, secret }, null)).status === 200
  }

  /** Does what the operator asks of a tenant as a whole. */
  keep(slug: string, task: Task, ask: Ask, requestId: string): Promise<Answer> {
    return this.#send({ do: 'keep', slug, task, requestId }, ask)
  }

  async #send(errand: Errand, ask: Ask | null): Promise<Answer> {
    const object = this.#namespace.get(this.#namespace.idFromName(errand.slug))
    try {
      const { status, headers, body } = await object.fetch(errandRequest(errand, ask))
      return { status, headers: Object.fromEntries(headers), body: body as Answer['body'] }
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
