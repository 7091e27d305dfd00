import { createWorker } from './create.ts'

/** The service with the built-in types, as a Worker with one Durable Object per tenant and a directory of them. */
const { worker, TenantObject, TenantDirectory } = createWorker()

export default worker
export { TenantDirectory, TenantObject }
