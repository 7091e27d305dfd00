import { computed } from './business/computed.ts'
import { flagCountJob } from './business/flag-counts.ts'
import { goalListener } from './business/goals.ts'
import { Engine, type Ports, type TenantOptions } from './engine/engine.ts'
import { afterHookJob, enqueueAfterHooks } from './services/after-hooks.ts'
import { indexJob } from './services/index-job.ts'
import { keyJob } from './services/keys.ts'
import { floorOf } from './services/sync/sync.ts'
import { cleanupJob, deliveryJob } from './services/webhooks/deliver.ts'
import { enqueueDeliveries } from './services/webhooks/enqueue.ts'

/** Opens a tenant with all its services. */
export function openTenant(slug: string, ports: Ports, options: TenantOptions): Engine {
  const tenant = new Engine(slug, ports, options)
  tenant.floor = floorOf(tenant)
  tenant.compute = computed(tenant)
  tenant.transactionListeners.push(enqueueAfterHooks(tenant), enqueueDeliveries(tenant))
  // Last, since it writes events of its own: what others book for an event comes before what follows from it.
  tenant.transactionListeners.push(goalListener(tenant))
  tenant.chores.push(
    keyJob(tenant),
    afterHookJob(tenant),
    deliveryJob(tenant),
    cleanupJob(tenant),
    flagCountJob(tenant),
    indexJob(tenant),
  )
  return tenant
}
