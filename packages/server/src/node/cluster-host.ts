import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tenants } from '../doors/gateway.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import type { Sender } from '../doors/sender.ts'
import type { AdminTask } from './operator/admin-tasks.ts'
import type { TenantFiles } from './sqlite/files.ts'
import type { Gate } from './threads/gate.ts'
import type { WorkerPool } from './threads/worker-pool.ts'
import type { Stats } from './watch/stats.ts'

/** What runs the tenants of a host. */
export interface TenantRunner extends Tenants {
  wake(slug: string): Promise<void>
  runTask(slug: string, task: AdminTask): Promise<unknown>
  rest(): Promise<void>
  stats(): Promise<Stats>
  closeAll(): Promise<void>
}

/** Tenants that do not exist, as their readers find them. */
export interface EmptyTenants extends Tenants {
  /** Slugs that are being read. */
  readonly emptySlugs: readonly string[]
  /** Ends the streams of a slug, which has a tenant now. */
  endEmpty(slug: string): void
}

type Book = (slug: string, at: number | null) => void

/** What a cluster does for a host that is one node of it. The host knows no more of it than this. */
export interface ClusterHost {
  readonly gate: Gate
  /** Hears when tenants are closed, and when they are due. */
  booking(book: Book): Book
  /** Joins the cluster. Returns the tenants of this node, which come and go. */
  join(node: {
    readonly pool: WorkerPool
    readonly files: TenantFiles
    readonly data: string
    readonly wakeAt: Book
    /** Answers reads of tenants that do not exist; null where only the operator creates tenants. */
    readonly empty: EmptyTenants | null
  }): Promise<TenantRunner>
  /** Whether some node may have the tenant. */
  exists(slug: string): boolean
  /** Whether a request was passed on by another node. */
  readonly isNode: (request: IncomingMessage) => boolean
  /** Passes a request on to the node of its tenant. False when that is this one. */
  readonly elsewhere: (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ) => boolean | Promise<boolean>
  operatorPage(request: HttpRequest, segments: readonly string[], sender: Sender): MaybePromise<HttpResponse | null>
  /** Numbers for `/metrics`. */
  metrics(): string
  /** Whether this node gives its tenants away because it is about to stop. */
  readonly isDraining: boolean
  /** Moves all tenants to other nodes, and passes requests on for a while. */
  drain(): Promise<void>
  leave(): Promise<void>
}
