import type { Passwords } from '../../doors/identity/ports.ts'
import { type Derive, passwordsWith } from '../../host/passwords.ts'
import { isolate, type WorkerLoader } from './isolate.ts'

/** What the platform ends a derivation at: ten times what one takes. */
const LIMITS = { cpuMs: 5_000, subRequests: 0 }

/** Hashes of passwords, made in their own isolate: the tenant has one thread, and others wait for it. */
export function createPasswords(loader: WorkerLoader): Passwords {
  return passwordsWith(async (...parameters) => {
    const entry = await isolate<{ derive: Derive }>(loader, 'passwords', 'passwords', 'Passwords', LIMITS)
    return entry.derive(...parameters)
  })
}
