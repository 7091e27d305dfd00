import { afterChore, bookAfters } from './afters.ts'
import { computed } from './computed.ts'
import { foldChore } from './fold-chore.ts'
import { keyChore } from './keys/keys.ts'
import { flagChore } from './metrics/flag-counts.ts'
import { goalWitness } from './metrics/goals.ts'
import { floorOf } from './sync/sync.ts'
import { type Ports, Tenant, type TenantOptions } from './tenant.ts'
import { bookDeliveries } from './webhooks/book.ts'
import { deliveryChore, forgetChore } from './webhooks/deliver.ts'

/** Opens a tenant with all its services. */
export function openTenant(slug: string, ports: Ports, options: TenantOptions): Tenant {
  const tenant = new Tenant(slug, ports, options)
  tenant.floor = floorOf(tenant)
  tenant.compute = computed(tenant)
  tenant.witnesses.push(bookAfters(tenant), bookDeliveries(tenant))
  // Last, since it writes events of its own: what others book for an event comes before what follows from it.
  tenant.witnesses.push(goalWitness(tenant))
  tenant.chores.push(
    keyChore(tenant),
    afterChore(tenant),
    deliveryChore(tenant),
    forgetChore(tenant),
    flagChore(tenant),
    foldChore(tenant),
  )
  return tenant
}
