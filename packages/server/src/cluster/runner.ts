import { Problem } from '@tildebase/nouns'
import { isFirstKey, unauthorized } from '../doors/app.ts'
import type { HttpResponse } from '../doors/http.ts'
import type { TenantCall } from '../doors/tenant-call.ts'
import type { TenantHost } from '../host/tenant-host.ts'
import type { LocalNode } from '../node/cluster-host.ts'
import { followed, holdsOn } from '../node/http/bodies.ts'
import type { AdminTask } from '../node/operator/admin-tasks.ts'
import type { Stats } from '../node/watch/stats.ts'
import { Creation, type CreationOptions } from './creation.ts'
import type { OutputGate } from './output-gate.ts'
import type { Peers } from './routing/peers.ts'

export interface RunnerOptions extends CreationOptions, Pick<LocalNode, 'pool' | 'files' | 'empty'> {
  readonly signup: boolean
  readonly peers: Peers
  readonly gate: OutputGate
}

/** The tenants of one node of a cluster. Those that it does not own are not here. */
export class ClusterRunner implements TenantHost<AdminTask, Stats> {
  readonly #options: RunnerOptions
  readonly #creation: Creation

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#creation = new Creation(options)
  }

  async handle(call: TenantCall): Promise<HttpResponse> {
    const { pool, ownership, directory } = this.#options
    const { slug } = call
    if (ownership.gateOf(slug)) return pool.handle(call)
    if (!directory.mayExist(slug)) return this.#handleNew(call)
    if (await ownership.own(slug)) return pool.handle(call)
    throw new Problem('unavailable', 'Another node has this tenant now. Try again.', { retryAfter: 1 })
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    const { pool, ownership, peers, directory } = this.#options
    if (ownership.gateOf(slug)) return pool.verify(slug, secret)
    const node = await peers.nodeOf(slug)
    if (node) return peers.verify(node, slug, secret)
    const isHere = (await directory.find(slug)) !== null && (await ownership.own(slug)) !== null
    return isHere ? pool.verify(slug, secret) : false
  }

  async wake(slug: string): Promise<void> {
    if (this.#options.ownership.get(slug)) await this.#options.pool.wake(slug)
  }

  /** Does what the operator asks, on the node that has the tenant, or for one that is new. */
  async task(slug: string, task: AdminTask): Promise<unknown> {
    const { pool, ownership, files, gate } = this.#options
    const isHere = ownership.gateOf(slug) !== undefined
    switch (task.do) {
      case 'create':
        await this.#creation.create(slug, files.template)
        return { tenant: slug }
      case 'adopt':
        return this.#creation.create(slug, task.path)
      case 'countRestored':
        return gate.during(slug, () => pool.task(slug, task))
      case 'setAside':
        if (!isHere) return files.demandThere(slug)
        await ownership.forget(slug)
        await ownership.own(slug)
        return null
      case 'delete':
        return isHere ? this.#creation.remove(slug) : files.demandThere(slug)
      default:
        if (!isHere) files.demandThere(slug)
        return pool.task(slug, task)
    }
  }

  rest(): Promise<void> {
    return this.#options.pool.rest()
  }

  stats(): Promise<Stats> {
    return this.#options.pool.stats()
  }

  close(): Promise<void> {
    return this.#options.pool.close()
  }

  /** Answers a request about a slug without a tenant. */
  async #handleNew(call: TenantCall): Promise<HttpResponse> {
    const { pool, signup, empty } = this.#options
    const { slug, request, target, sender } = call
    const isSignUp = signup && sender.kind === 'anonymous' && isFirstKey(request.method, target.segments)
    if (!isSignUp && sender.kind !== 'operator') throw unauthorized()
    if (!isSignUp && empty === null)
      throw new Problem(
        'unknown_tenant',
        `There is no tenant ${slug}. The operator creates it: POST /operator/tenants.`,
        { id: slug },
      )
    if (request.method === 'GET' || request.method === 'HEAD') return this.#readNew(call)
    return this.#creation.firstWrite(slug, (isFirst) => {
      // The operator or another sign-up was faster: this one does not take the tenant over.
      if (isSignUp && !isFirst) throw unauthorized()
      return pool.handle({ ...call, isFirst })
    })
  }

  /** Reads a tenant that does not exist. A stream of it continues with the real one when that is here. */
  async #readNew(call: TenantCall): Promise<HttpResponse> {
    const given = await this.#options.empty!.handle(call)
    if (!holdsOn(given)) return given
    const next = async () => {
      // It may be in the log, and not open yet.
      if (!(await this.#options.ownership.own(call.slug).catch(() => null))) return null
      const answer = await this.handle(call)
      return holdsOn(answer) ? answer.body : null
    }
    return { ...given, body: followed(given.body, next) }
  }
}
