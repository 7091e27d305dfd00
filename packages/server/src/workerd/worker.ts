import { createWorker } from './create.ts'

/** The service with the built-in types, as a Worker with one Durable Object per tenant. */
const { worker, TenantObject } = createWorker()

export default worker
export { TenantObject }
