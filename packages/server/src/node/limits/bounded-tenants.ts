import { Problem } from '@tildebase/nouns'
import type { Tenants } from '../../doors/gateway.ts'
import { type HttpRequest, type HttpResponse, isLasting, type MaybePromise } from '../../doors/http.ts'
import type { Sender } from '../../doors/sender.ts'
import type { RequestTarget } from '../../doors/target.ts'
import { held } from '../http/bodies.ts'
import type { Refusals } from '../watch/refusals.ts'
import { BoundedCounts, release } from './bounded-counts.ts'

/** How many requests may be in progress at once; polls and live streams are counted apart. */
export interface RequestBounds {
  readonly tenantRequests: number
  readonly keyRequests: number
  readonly tenantPolls: number
  readonly keyPolls: number
}

interface Bound {
  readonly kind: string
  readonly tenants: BoundedCounts
  readonly keys: BoundedCounts
  readonly perTenant: number
  readonly perKey: number
}

/** The tenants, each with a bound on the requests that are in progress, and each of their keys with its own. */
export class BoundedTenants implements Tenants {
  readonly #tenants: Tenants
  readonly #refusals: Refusals
  readonly #requests: Bound
  readonly #polls: Bound

  constructor(tenants: Tenants, bounds: RequestBounds, refusals: Refusals) {
    this.#tenants = tenants
    this.#refusals = refusals
    this.#requests = boundOf('requests', bounds.tenantRequests, bounds.keyRequests)
    this.#polls = boundOf('polls and streams', bounds.tenantPolls, bounds.keyPolls)
  }

  answer(
    slug: string,
    ask: HttpRequest,
    place: RequestTarget,
    sender: Sender,
    requestId: string,
  ): MaybePromise<HttpResponse> {
    const bound = isLasting(ask, place.segments) ? this.#polls : this.#requests
    // The operator acts for all tenants: its requests count for the tenant only, not for the key.
    const key = sender.kind === 'secret' || sender.kind === 'session' ? sender.secret : null
    const free = this.#take(bound, slug, key)
    const over = (answer: HttpResponse): HttpResponse => {
      const { body } = answer
      if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
        return { ...answer, body: held(body, () => {}, free) }
      free()
      return answer
    }
    const failed = (reason: unknown): never => {
      free()
      throw reason
    }
    try {
      const answer = this.#tenants.answer(slug, ask, place, sender, requestId)
      return answer instanceof Promise ? answer.then(over, failed) : over(answer)
    } catch (reason) {
      return failed(reason)
    }
  }

  verify(slug: string, secret: string): Promise<boolean> {
    return this.#tenants.verify(slug, secret)
  }

  /** How many requests to a tenant are in progress. */
  underWay(slug: string): number {
    return this.#requests.tenants.countOf(slug) + this.#polls.tenants.countOf(slug)
  }

  /** Counts a request until the function that it returns is called. */
  #take({ kind, tenants, keys, perTenant, perKey }: Bound, slug: string, key: string | null): () => void {
    const ofKey = key === null ? null : keys.take(key)
    if (key !== null && ofKey === null) {
      this.#refusals.count('key_requests')
      const message = `This key has ${perKey} open ${kind}, which is the limit.`
      throw new Problem('rate_limited', message, { limit: perKey, retryAfter: 1 })
    }
    const ofTenant = tenants.take(slug)
    if (ofTenant !== null) {
      return () => {
        release(ofTenant)
        if (ofKey !== null) release(ofKey)
      }
    }
    if (ofKey !== null) release(ofKey)
    this.#refusals.count('tenant_requests')
    const message = `This tenant has ${perTenant} open ${kind}, which is the limit. Try again in a moment.`
    throw new Problem('busy', message, { limit: perTenant, retryAfter: 1 })
  }
}

function boundOf(kind: string, perTenant: number, perKey: number): Bound {
  return { kind, tenants: new BoundedCounts(perTenant), keys: new BoundedCounts(perKey), perTenant, perKey }
}
