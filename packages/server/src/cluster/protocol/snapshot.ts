import type { OwnedTenant } from './owned-tenant.ts'
import type { Position } from './replicated-log.ts'
import type { Time } from './time.ts'

/** A copy of a tenant's file, and how it is saved and removed. */
export interface FileCopy {
  readonly at: Position
  /** Saves it in the log as the newest snapshot. False when the log has a newer one, or not its position. */
  save(): Promise<boolean>
}

const POLL = 20

/**
 * Saves a copy of a tenant as its newest snapshot, when the log has all that is in the copy: a snapshot must not hold
 * what can still be lost. Returns the position of the copy, or null when another node owns the tenant by now.
 */
export async function takeSnapshot(tenant: OwnedTenant, copy: FileCopy, time: Time): Promise<number | null> {
  while (!tenant.isLost && tenant.head < copy.at.n) await time.sleep(POLL)
  if (tenant.isLost) return null
  await copy.save()
  return copy.at.n
}
