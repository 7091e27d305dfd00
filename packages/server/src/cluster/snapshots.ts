import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkerPool } from '../node/threads/worker-pool.ts'
import type { ReplicaThread } from './files/thread.ts'
import type { OwnedTenant } from './protocol/owned-tenant.ts'
import type { Ownership } from './protocol/ownership.ts'
import type { TenantRow } from './protocol/replicated-log.ts'
import { takeSnapshot } from './protocol/snapshot.ts'
import type { Time } from './protocol/time.ts'

export interface SnapshotOptions {
  readonly pool: WorkerPool
  readonly ownership: Ownership
  readonly replicas: ReplicaThread
  readonly data: string
  readonly time: Time
  /** A tenant has a new snapshot after so many changes, or so many bytes of them. */
  readonly snapshotChanges: number
  readonly snapshotBytes: number
}

/** The last snapshot of a tenant, and the bytes of the changes since. */
interface Last {
  at: number
  bytes: number
}

/** Makes snapshots of the tenants that this node owns. */
export class Snapshots {
  readonly #options: SnapshotOptions
  readonly #last = new Map<string, Last>()
  #made = 0

  constructor(options: SnapshotOptions) {
    this.#options = options
  }

  /** How many snapshots this node has made. */
  get made(): number {
    return this.#made
  }

  claimed({ slug, snapshot }: TenantRow): void {
    this.#last.set(slug, { at: snapshot, bytes: 0 })
  }

  lost(slug: string): void {
    this.#last.delete(slug)
  }

  committed(slug: string, bytes: number): void {
    const last = this.#last.get(slug)
    if (last) last.bytes += bytes
  }

  /** The tenants that should have a new snapshot: much was added, or something was erased. */
  get due(): readonly OwnedTenant[] {
    const { ownership, snapshotChanges, snapshotBytes } = this.#options
    return ownership.all.filter(({ slug, erased, head }) => {
      const last = this.#last.get(slug)
      return last && (erased > last.at || last.bytes >= snapshotBytes || head - last.at >= snapshotChanges)
    })
  }

  /** Copies the file next to the requests, waits until the log has all that is in the copy, and saves it. */
  async make(tenant: OwnedTenant): Promise<void> {
    const { pool, replicas, data, time } = this.#options
    const { slug } = tenant
    const path = join(data, 'scratch', `${slug}.snapshot`)
    try {
      await pool.task(slug, { do: 'copy', path, asOf: null })
      const at = await replicas.stateOfFile(path)
      const n = await takeSnapshot(tenant, { at, save: () => replicas.saveSnapshot(slug, path) }, time)
      if (n === null) return
      if (this.#last.has(slug)) this.#last.set(slug, { at: n, bytes: 0 })
      this.#made++
    } finally {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    }
  }
}
