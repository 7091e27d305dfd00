import { unauthorized } from '../../doors/app.ts'
import type { Tenants } from '../../doors/gateway.ts'
import type { Admission } from '../../doors/limits/admission.ts'
import type { Restoring } from '../tenants/restoring.ts'
import type { Refusals } from '../watch/refusals.ts'
import { AddressRates } from './addresses.ts'
import { KeyVerdicts, type RequestBounds, RequestCounts } from './keys.ts'

export interface AdmissionOptions {
  readonly tenants: Pick<Tenants, 'verify'>
  readonly exists: (tenant: string) => boolean
  readonly restoring: Restoring
  readonly bounds: RequestBounds
  /** Sign-ups per hour and address; 0 turns the limit off. */
  readonly signupLimit: number
  readonly refusals: Refusals
}

/** Takes all limits of this host, once for each request. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { tenants, exists, restoring, bounds, signupLimit, refusals } = options
  const now = () => performance.now()
  const verify = tenants.verify.bind(tenants)
  const keys = new KeyVerdicts({ exists, verify, refusals, now })
  const counts = new RequestCounts(bounds, refusals)
  const rates = new AddressRates(signupLimit, refusals, now)
  const refusedKeyless = () => refusals.count('no_key')
  // A sender without a key learns nothing about a tenant that is being restored.
  const demand = (isAdmitted: boolean) => {
    if (isAdmitted) return
    refusedKeyless()
    throw unauthorized()
  }
  return {
    admitKey(tenant, secret, address) {
      restoring.refuse(tenant)
      return keys.admit(tenant, secret, address)
    },
    admitOperator: (tenant) => restoring.refuse(tenant),
    admitOpen(tenant, address) {
      rates.admitOpen(address)
      demand(exists(tenant) && !restoring.has(tenant))
    },
    admitSignup(tenant, address) {
      rates.admitSignup(address)
      demand(!exists(tenant) && !restoring.has(tenant))
    },
    enter: counts.enter.bind(counts),
    refusedKeyless,
    refusedKey: (_, secret) => keys.doubt(secret),
    wrote: keys.forgetInvalid.bind(keys),
  }
}
