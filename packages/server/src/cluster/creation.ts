import { join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { LAYOUT_VERSION } from '@tildebase/tenant/internal'
import type { HttpResponse } from '../doors/http.ts'
import type { LocalNode } from '../node/cluster-host.ts'
import { held, holdsOn } from '../node/http/bodies.ts'
import type { ReplicaThread } from './files/thread.ts'
import type { Membership } from './protocol/membership.ts'
import type { OwnedTenant } from './protocol/owned-tenant.ts'
import type { Ownership } from './protocol/ownership.ts'
import { ranked } from './protocol/ranking.ts'
import type { ReplicatedLog } from './protocol/replicated-log.ts'
import type { Directory } from './routing/directory.ts'
import type { Peers } from './routing/peers.ts'

export interface CreationOptions extends Pick<LocalNode, 'files' | 'data'> {
  readonly log: ReplicatedLog
  readonly ownership: Ownership
  readonly membership: Membership
  readonly directory: Directory
  readonly replicas: ReplicaThread
  readonly peers: Peers
}

let scratch = 0

/** Adds tenants to the log, and removes them. */
export class Creation {
  readonly #options: CreationOptions
  /** First writes in progress, and the slugs of which one of them has created the tenant. */
  readonly #writes = new Map<string, number>()
  readonly #created = new Set<string>()

  constructor(options: CreationOptions) {
    this.#options = options
  }

  /** Creates a tenant with the content of a file, on the node that it belongs to. */
  async create(slug: string, from: string): Promise<void> {
    const { membership, ownership, peers } = this.#options
    const { session } = ranked({ slug, pin: null, layout: LAYOUT_VERSION }, membership.nodes)[0] ?? membership
    if (!(await this.#add(slug, from, session)))
      throw new Problem('conflict', `The tenant ${slug} already exists. Use another name, or delete it first.`, {
        id: slug,
      })
    // It exists from now on. A node that does not answer is replaced by another one later.
    if (session !== membership.session) await peers.take(slug, session)
    else if (!(await ownership.own(slug))) throw unopened(slug)
  }

  /** Creates a tenant here for a write, which learns whether it did. Writes that are all refused leave no tenant behind. */
  async firstWrite(slug: string, answer: (isFirst: boolean) => Promise<HttpResponse>): Promise<HttpResponse> {
    const { membership, ownership, files } = this.#options
    this.#writes.set(slug, (this.#writes.get(slug) ?? 0) + 1)
    let isStream = false
    try {
      const isFirst = await this.#add(slug, files.template, membership.session)
      if (isFirst) this.#created.add(slug)
      if (!(await ownership.own(slug))) throw unopened(slug)
      const given = await answer(isFirst)
      isStream = holdsOn(given)
      if (!holdsOn(given)) return given
      // It may still write.
      const ended = () => void this.#ended(slug)
      return { ...given, body: held(given.body, () => {}, ended) }
    } finally {
      if (!isStream) await this.#ended(slug)
    }
  }

  /** Removes a tenant of this node. */
  async remove(slug: string): Promise<void> {
    const tenant = this.#options.ownership.gateOf(slug)
    if (!tenant || !(await this.#remove(tenant, false)))
      throw new Problem('unavailable', 'Another node has this tenant now. Try again.', { retryAfter: 1 })
  }

  /** False when there is a tenant of this name. */
  async #add(slug: string, from: string, session: string): Promise<boolean> {
    const { replicas, directory, data } = this.#options
    const path = join(data, 'scratch', `${slug}.${process.pid}.${++scratch}.first`)
    const row = await replicas.create(slug, session, from, path)
    directory.forget(slug)
    return row !== null
  }

  async #ended(slug: string): Promise<void> {
    const left = this.#writes.get(slug)! - 1
    if (left > 0) this.#writes.set(slug, left)
    else await this.#discard(slug)
  }

  async #discard(slug: string): Promise<void> {
    this.#writes.delete(slug)
    if (!this.#created.delete(slug)) return
    const tenant = this.#options.ownership.gateOf(slug)
    if (tenant?.committed === 0) await this.#remove(tenant, true)
  }

  /** The log decides whether it is empty: another request may have written to it meanwhile. */
  async #remove({ slug, epoch }: OwnedTenant, onlyEmpty: boolean): Promise<boolean> {
    const { log, directory, ownership } = this.#options
    if (!(await log.remove(slug, epoch, onlyEmpty))) return false
    directory.forget(slug)
    await ownership.forget(slug)
    return true
  }
}

function unopened(slug: string): Problem {
  return new Problem('unavailable', `The tenant ${slug} was created, but not opened.`)
}
