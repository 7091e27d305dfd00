import { unauthorized } from '../../doors/app.ts'
import type { Tenants } from '../../doors/gateway.ts'
import type { Admission } from '../../doors/limits/admission.ts'
import type { Refusals } from '../watch/refusals.ts'
import { KeyVerdicts } from './key-verdicts.ts'
import { OpenLimit } from './open-limit.ts'
import { SignupLimit } from './signup-limit.ts'

export interface AdmissionOptions {
  readonly tenants: Pick<Tenants, 'verify'>
  readonly exists: (tenant: string) => boolean
  /** Sign-ups per hour and address; 0 turns the limit off. */
  readonly signupLimit: number
  readonly refusals: Refusals
}

/** What the gateway of this host admits. */
export function createAdmission({ tenants, exists, signupLimit, refusals }: AdmissionOptions): Admission {
  const now = () => performance.now()
  const verify = tenants.verify.bind(tenants)
  const keys = new KeyVerdicts({ exists, verify, refusals, now })
  const signups = new SignupLimit(signupLimit, refusals, now)
  const open = new OpenLimit(refusals, now)
  const refusedKeyless = () => refusals.count('no_key')
  return {
    admitKey: keys.admit.bind(keys),
    admitOpen(tenant, address) {
      open.admit(address)
      if (exists(tenant)) return
      refusedKeyless()
      throw unauthorized()
    },
    admitSignup(tenant, address) {
      signups.admit(address)
      if (!exists(tenant)) return
      refusedKeyless()
      throw unauthorized()
    },
    refusedKeyless,
    refusedKey: keys.revoked.bind(keys),
    wrote: keys.forgetInvalid.bind(keys),
  }
}
