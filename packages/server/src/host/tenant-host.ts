import type { Tenants } from '../doors/gateway.ts'

/** What runs tenants for a gateway: in this thread, in worker threads, on a node of a cluster. `Task` is what the operator asks. */
export interface TenantHost<Task, Stats> extends Tenants {
  /** Opens a tenant and does what is due in it. */
  wake(slug: string): Promise<void>
  /** Does what the operator asks of a tenant as a whole. */
  task(slug: string, task: Task): Promise<unknown>
  /** Ends every stream and starts nothing new. */
  rest(): Promise<void>
  stats(): Promise<Stats>
  /** Closes every tenant. */
  close(): Promise<void>
}
