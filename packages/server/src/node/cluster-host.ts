import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import type { Sender, TenantCall } from '../doors/tenant-call.ts'
import type { TenantHost } from '../host/tenant-host.ts'
import type { AdminTask } from './operator/admin-tasks.ts'
import type { MailDirectory } from './outbound/mail-addresses.ts'
import type { TenantFiles } from './sqlite/files.ts'
import type { LocalTenants } from './tenants/tenants.ts'
import type { Gate } from './threads/gate.ts'
import type { WorkerPool } from './threads/worker-pool.ts'
import type { Stats } from './watch/stats.ts'

/** Books when a tenant is to be woken; null is never. */
export type Book = (slug: string, at: number | null) => void

/** What the host lends to the cluster: the threads of its tenants, and their files. */
export interface LocalNode {
  readonly pool: WorkerPool
  readonly files: TenantFiles
  readonly data: string
  readonly wakeAt: Book
  /** Answers reads of tenants that do not exist; null where only the operator creates tenants. */
  readonly empty: LocalTenants | null
  /** The tasks of the tenants of this node. */
  readonly ownTasks: () => Promise<readonly object[]>
}

/** What a cluster does for a host that is one node of it. The host knows no more of it than this. */
export interface ClusterHost {
  readonly gate: Gate
  /** Hears when tenants are closed, and when they are due. */
  booking(book: Book): Book
  /** Joins the cluster. Returns the tenants of this node, which come and go. */
  join(node: LocalNode): Promise<TenantHost<AdminTask, Stats>>
  /** Handles a call that the host itself makes, on the node that has the tenant. */
  handle(call: TenantCall): Promise<HttpResponse>
  /** The addresses of the mailbox of the service, which the nodes share. */
  mailDirectory(): MailDirectory
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
  /** The tasks of the tenants of the other nodes. */
  tasks(): Promise<readonly object[]>
  /** Numbers for `/metrics`. */
  metrics(): string
  /** Whether this node gives its tenants away because it is about to stop. */
  readonly isDraining: boolean
  /** Moves all tenants to other nodes, and passes requests on for a while. */
  drain(): Promise<void>
  leave(): Promise<void>
}
