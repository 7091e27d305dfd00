import { Problem } from '@tildebase/nouns'
import { isFirstKey, unauthorized } from '../../doors/app.ts'
import type { HttpRequest } from '../../doors/http.ts'
import type { RequestTarget } from '../../doors/target.ts'
import type { Sender } from '../../doors/tenant-call.ts'

/** What is known of a tenant without opening it. */
export interface Presence {
  readonly exists: boolean
  readonly isRestoring: boolean
}

/** Refuses a request by what is known of the tenant: nothing is laid out, read or computed for it. */
export function admit(
  slug: string,
  { method }: HttpRequest,
  { segments }: RequestTarget,
  sender: Sender,
  { exists, isRestoring }: Presence,
  settings: { readonly signup: boolean; readonly createTenants: 'write' | 'operator' },
): void {
  const isAnonymous = sender.kind === 'anonymous'
  // A sender without a key learns nothing.
  if (isRestoring) throw isAnonymous ? unauthorized() : restoring(slug)
  // Signing up creates a tenant; it does not take over one that the operator created on purpose.
  if (exists && isAnonymous && settings.createTenants === 'operator' && isFirstKey(method, segments))
    throw unauthorized()
  if (exists || (isAnonymous && settings.signup && method === 'POST')) return
  if (sender.kind !== 'operator') throw unauthorized()
  if (settings.createTenants === 'operator')
    throw new Problem(
      'unknown_tenant',
      `There is no tenant ${slug}. The operator creates it: POST /operator/tenants.`,
      { id: slug },
    )
}

/** The problem of a tenant that is being restored. */
export function restoring(slug: string): Problem {
  const message = `The tenant ${slug} is being restored. Try again when that has ended.`
  return new Problem('restoring', message, { retryAfter: 5 })
}
