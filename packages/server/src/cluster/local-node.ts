import type { EmptyTenants } from '../node/cluster-host.ts'
import type { TenantFiles } from '../node/sqlite/files.ts'
import type { WorkerPool } from '../node/threads/worker-pool.ts'

/** Books when a tenant is to be woken; null is never. */
export type Book = (slug: string, at: number | null) => void

/** What the host lends to the cluster: the threads of its tenants, and their files. */
export interface LocalNode {
  readonly pool: WorkerPool
  readonly files: TenantFiles
  readonly data: string
  readonly wakeAt: Book
  /** Answers reads of tenants that do not exist; null where only the operator creates tenants. */
  readonly empty: EmptyTenants | null
}
