import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '@tildebase/nouns'
import { tenantOfSecret, tenantOfSession } from '@tildebase/tenant/internal'
import { sessionCookie } from '../../doors/identity/cookie.ts'
import { slugOf, targetOf } from '../../doors/target.ts'
import type { Membership } from '../protocol/membership.ts'
import type { Ownership } from '../protocol/ownership.ts'
import { ranked } from '../protocol/ranking.ts'
import type { NodeRow, TenantRow } from '../protocol/replicated-log.ts'
import type { Directory } from './directory.ts'
import { type Forwarder, hopsOf } from './forward.ts'
import { ASK_AGAIN, type NodeProofs } from './node-proof.ts'

export interface RouterOptions {
  readonly membership: Membership
  readonly ownership: Ownership
  readonly directory: Directory
  readonly forwarder: Forwarder
  readonly hostSuffix: string
  /** How long a request waits at this moment for a node that has its tenant, in milliseconds. */
  readonly patience: () => number
  readonly proofs: NodeProofs
  readonly report: (reason: unknown, doing: string) => void
}

const MOST_HOPS = 6
const PAUSE = 50
/** Milliseconds, for each time that a request was passed on, before it is passed on to a node that does not own its tenant. */
const HOP_PAUSE = 200
/** Paths outside tenants whose tenant is the key's own. */
const DATABASE_PATHS = new Set(['import', 'export', 'sync', 'manifest', 'events'])

/** Brings each request to the node that owns its tenant. */
export class Router {
  readonly #options: RouterOptions
  /** Requests of each tenant that are answered here. */
  readonly #underWay = new Map<string, number>()

  constructor(options: RouterOptions) {
    this.#options = options
  }

  /** The number of open requests of a tenant on this node. */
  underWay(slug: string): number {
    return this.#underWay.get(slug) ?? 0
  }

  /** Passes a request on. False when it is to be answered here. */
  readonly elsewhere = (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ): boolean | Promise<boolean> => {
    this.#options.proofs.receive(request)
    const slug = this.#tenantOf(request)
    if (slug === null) return false
    if (this.#options.ownership.get(slug)) return this.#enter(slug, response)
    return this.#route(slug, request, response, address)
  }

  async #route(slug: string, request: IncomingMessage, response: ServerResponse, address: string): Promise<boolean> {
    const { directory, ownership, membership, forwarder, patience, proofs, report } = this.#options
    // Also without a valid proof: the clocks of the nodes may differ.
    if (hopsOf(request) > MOST_HOPS) throw unavailable('The nodes do not agree who has this tenant.')
    const isForwarded = proofs.isNode(request)
    // Another node believes that the tenant is here: what this one remembers may be as old.
    if (isForwarded) directory.forget(slug)
    const begun = performance.now()
    let failure: unknown = null
    let mayDisagree = isForwarded
    while (!response.destroyed) {
      await ownership.leaving(slug)
      if (ownership.get(slug)) return this.#enter(slug, response)
      const place = await this.#place(slug).catch((reason) => {
        failure = reason
        return null
      })
      if (place === 'nowhere') return false
      if (place === 'here') return this.#enter(slug, response)
      if (place !== null && mayDisagree && (await directory.find(slug).catch(() => null))?.owner !== place.session) {
        // One of the nodes does not know of all others yet. It will with their next signs of life.
        mayDisagree = false
        await new Promise((done) => setTimeout(done, HOP_PAUSE * hopsOf(request)))
        directory.forget(slug)
        continue
      }
      if (place !== null) {
        const outcome = await forwarder.forward(place, request, response, address)
        if (outcome === 'answered') return true
        if (outcome === 'unknown') throw unavailable('The node of this tenant failed. The request may have been done.')
      }
      directory.forget(slug)
      // This node would not notice when another one comes that has the tenant.
      if (place === null && membership.hasLeft) {
        if (isForwarded) response.setHeader(ASK_AGAIN, '1')
        throw unavailable('This node is about to stop.')
      }
      if (performance.now() - begun >= patience()) {
        if (failure !== null) report(failure, `find the node of ${slug}`)
        throw unavailable('No node has this tenant at the moment.')
      }
      await new Promise((done) => setTimeout(done, PAUSE))
    }
    return true
  }

  /** Where a tenant is; it is claimed if it belongs here. Null when no node can be named. */
  async #place(slug: string): Promise<NodeRow | 'here' | 'nowhere' | null> {
    const { directory, ownership, membership } = this.#options
    const row = await directory.find(slug)
    // Requests about a slug without a tenant meet at one node, too: it may be restored there, slice by slice.
    const node = this.#nodeFor(row ?? { slug, owner: null, pin: null, layout: 0 })
    if (node?.session !== membership.session) return node ?? null
    if (row === null) return 'nowhere'
    return (await ownership.own(slug)) ? 'here' : null
  }

  /** The node that owns a tenant, or the one that should claim it. */
  #nodeFor(row: Pick<TenantRow, 'slug' | 'owner' | 'pin' | 'layout'>): NodeRow | undefined {
    const { membership } = this.#options
    return membership.nodeOf(row.owner) ?? ranked(row, membership.nodes)[0]
  }

  #enter(slug: string, response: ServerResponse): false {
    this.#underWay.set(slug, this.underWay(slug) + 1)
    response.once('close', () => {
      const left = this.underWay(slug) - 1
      if (left > 0) this.#underWay.set(slug, left)
      else this.#underWay.delete(slug)
    })
    return false
  }

  /** The tenant that a request is about, or null. What cannot be read is refused by the gateway. */
  #tenantOf({ url = '/', headers }: IncomingMessage): string | null {
    const path = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0]!
    try {
      const { tenant, segments } = targetOf('http', headers.host ?? '', path, this.#options.hostSuffix)
      if (tenant !== null) return tenant
      if (segments[0] === 'operator')
        return segments[1] === 'tenants' && segments[2] !== undefined ? slugOf(segments[2]) : null
      if (!DATABASE_PATHS.has(segments[0] ?? '')) return null
      const secret = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
      const session = secret === undefined ? sessionCookie(headers.cookie) : null
      const own = secret === undefined ? session && tenantOfSession(session) : tenantOfSecret(secret)
      return own === null ? null : slugOf(own)
    } catch {
      return null
    }
  }
}

function unavailable(message: string): Problem {
  return new Problem('unavailable', `${message} Try again in a moment.`, { retryAfter: 1 })
}
