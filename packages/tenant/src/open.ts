import { afterChore, bookAfters } from './afters.ts'
import { computed } from './computed.ts'
import { keyChore } from './keys/keys.ts'
import { getMeta } from './store/meta.ts'
import { type Ports, Tenant, type TenantOptions } from './tenant.ts'

/** Opens a tenant with all its services. */
export function openTenant(slug: string, ports: Ports, options: TenantOptions): Tenant {
  const tenant = new Tenant(slug, ports, options)
  tenant.floor = Number(getMeta(tenant.sql, 'sync.floor') ?? 0)
  tenant.compute = computed(tenant)
  tenant.witnesses.push(bookAfters(tenant))
  tenant.chores.push(keyChore(tenant), afterChore(tenant))
  return tenant
}
