import { join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { isFirstKey, unauthorized } from '../app.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import type { AdminTask } from '../node/admin-tasks.ts'
import type { TenantRunner } from '../node/cluster-host.ts'
import type { TenantFiles } from '../node/files.ts'
import type { Stats } from '../node/watch/stats.ts'
import type { WorkerPool } from '../node/workers/worker-pool.ts'
import type { Sender } from '../sender.ts'
import type { RequestTarget } from '../target.ts'
import type { Directory } from './directory.ts'
import type { ReplicaThread } from './files/thread.ts'
import type { Membership } from './protocol/membership.ts'
import type { Ownership } from './protocol/ownership.ts'
import type { ReplicatedLog } from './protocol/replicated-log.ts'

export interface RunnerOptions {
  readonly pool: WorkerPool
  readonly files: TenantFiles
  readonly data: string
  readonly signup: boolean
  readonly log: ReplicatedLog
  readonly ownership: Ownership
  readonly membership: Membership
  readonly directory: Directory
  readonly replicas: ReplicaThread
  /** Asks another node whether its tenant knows a key. */
  readonly verifyElsewhere: (slug: string, secret: string) => Promise<boolean>
  /** Reads a path of a tenant of another node; null when this node should have it. */
  readonly readElsewhere: (slug: string, path: string, sender: Sender) => Promise<HttpResponse | null>
}

let scratch = 0

/** The tenants of one node of a cluster. Those that it does not own are not here. */
export class ClusterRunner implements TenantRunner {
  readonly #options: RunnerOptions

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  async answer(
    slug: string,
    ask: HttpRequest,
    place: RequestTarget,
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> {
    const { pool, ownership, signup } = this.#options
    if (ownership.gateOf(slug)) return pool.answer(slug, ask, place, sender, requestId)
    const isNew = !this.#options.directory.mayExist(slug)
    if (isNew && signup && sender.kind === 'anonymous' && isFirstKey(ask.method, place.segments))
      return this.#signUp(slug, () => pool.answer(slug, ask, place, sender, requestId))
    if (isNew && sender.kind !== 'operator') throw unauthorized()
    if (isNew)
      throw new Problem(
        'unknown_tenant',
        `There is no tenant ${slug}. The operator creates it: POST /operator/tenants.`,
        {
          id: slug,
        },
      )
    // A tenant that a request reads next to its own, such as its fork, may be on another node.
    const read = ask.method === 'GET' ? await this.#options.readElsewhere(slug, ask.path, sender) : null
    if (read) return read
    if (await ownership.own(slug)) return pool.answer(slug, ask, place, sender, requestId)
    throw new Problem('unavailable', 'Another node has this tenant now. Try again.', { retryAfter: 1 })
  }

  verify(slug: string, secret: string): Promise<boolean> {
    const { pool, ownership, verifyElsewhere } = this.#options
    return ownership.gateOf(slug) ? pool.verify(slug, secret) : verifyElsewhere(slug, secret)
  }

  async wake(slug: string): Promise<void> {
    if (this.#options.ownership.get(slug)) await this.#options.pool.wake(slug)
  }

  /** Does what the operator asks, on the node that has the tenant, or for one that is new. */
  async runTask(slug: string, task: AdminTask): Promise<unknown> {
    const { pool, ownership, files } = this.#options
    switch (task.do) {
      case 'create':
        await this.#create(slug, files.template)
        return { tenant: slug }
      case 'adopt':
        return void (await this.#create(slug, task.path))
      case 'delete':
        return this.#remove(slug)
      case 'replay': {
        if (ownership.gateOf(slug)) return pool.runTask(slug, task)
        await this.#create(slug, files.template)
        return pool.runTask(slug, task).catch(async (reason) => {
          await this.#remove(slug)
          throw reason
        })
      }
      default:
        if (!ownership.gateOf(slug)) files.demandThere(slug)
        return pool.runTask(slug, task)
    }
  }

  rest(): Promise<void> {
    return this.#options.pool.rest()
  }

  stats(): Promise<Stats> {
    return this.#options.pool.stats()
  }

  closeAll(): Promise<void> {
    return this.#options.pool.closeAll()
  }

  async #create(slug: string, from: string): Promise<void> {
    const { replicas, membership, ownership, directory, data } = this.#options
    const path = join(data, 'scratch', `${slug}.${process.pid}.${++scratch}.first`)
    const row = await replicas.create(slug, membership.session, from, path)
    directory.forget(slug)
    if (row === null)
      throw new Problem('conflict', `The tenant ${slug} already exists. Use another name, or delete it first.`, {
        id: slug,
      })
    if (!(await ownership.own(slug)))
      throw new Problem('unavailable', `The tenant ${slug} was created, but not opened.`)
  }

  async #remove(slug: string): Promise<void> {
    const { ownership, log, directory, files } = this.#options
    const tenant = ownership.gateOf(slug)
    if (!tenant) return files.demandThere(slug)
    if (!(await log.remove(slug, tenant.epoch)))
      throw new Problem('unavailable', 'Another node has this tenant now. Try again.', { retryAfter: 1 })
    directory.forget(slug)
    await ownership.forget(slug)
  }

  /** A sign-up that is refused leaves no tenant behind. */
  async #signUp(slug: string, answer: () => Promise<HttpResponse>): Promise<HttpResponse> {
    await this.#create(slug, this.#options.files.template)
    const answered = await answer().catch(async (reason) => {
      await this.#remove(slug)
      throw reason
    })
    if (answered.status >= 400) await this.#remove(slug)
    return answered
  }
}
