import type { LocalNode } from '../node/cluster-host.ts'
import type { ReplicaThread } from './files/thread.ts'
import type { TenantHost } from './protocol/ownership.ts'
import type { ReplicaState } from './protocol/replica.ts'
import type { TenantRow } from './protocol/replicated-log.ts'
import type { Time } from './protocol/time.ts'

/** How long a tenant that is given away waits for its requests. */
const FINISH_MS = 15_000
const POLL = 5

export interface TenantThreadsOptions {
  readonly replicas: ReplicaThread
  readonly time: Time
  /** The number of open requests of a tenant on this node. */
  readonly underWay: (slug: string) => number
}

/** Runs the tenants that this node owns in the threads of the host. */
export class TenantThreads implements TenantHost {
  readonly #options: TenantThreadsOptions
  #node: LocalNode | null = null

  constructor(options: TenantThreadsOptions) {
    this.#options = options
  }

  /** Takes the threads of the host. What a crash has left is a replica: its end is compared with the log before it is used. */
  async start(node: LocalNode): Promise<void> {
    this.#node = node
    for (const slug of await node.files.allSlugs()) await this.withdraw(slug)
  }

  bring(row: TenantRow): Promise<ReplicaState | null> {
    return this.#options.replicas.bring(row)
  }

  async open(row: TenantRow, at: ReplicaState): Promise<void> {
    await this.#options.replicas.publish(row, at)
    this.#node!.pool.tell({ do: 'clock', slug: row.slug, from: row.clock }, row.slug)
  }

  async close(slug: string): Promise<void> {
    const { time, underWay } = this.#options
    const { pool } = this.#node!
    await pool.manage(slug, 'restTenant')
    const until = time.elapsed() + FINISH_MS
    while (underWay(slug) > 0 && time.elapsed() < until) await time.sleep(POLL)
    await pool.manage(slug, 'closeTenant')
  }

  withdraw(slug: string): Promise<void> {
    return this.#options.replicas.withdraw(slug)
  }

  async drop(slug: string): Promise<void> {
    const { pool, files } = this.#node!
    // A thread that is down has no file open.
    await pool.manage(slug, 'dropTenant').catch(() => files.remove(slug))
  }

  /** No tenant gives out a time after this one. */
  limitClock(until: number): void {
    this.#node?.pool.tell({ do: 'clockLimit', until })
  }
}
