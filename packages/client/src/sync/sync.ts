import type { Wire } from '../transport/wire.ts'
import type { SyncAnswer, SyncChange, SyncRequest } from '../types/sync-types.ts'
import type { LocalStore } from './local.ts'

/** What a synchronisation did. */
export interface SyncReport {
  readonly applied: number
  readonly conflicts: number
  /** The changes that the server refused and why; they are taken back here. */
  readonly rejected: readonly { readonly change: SyncChange; readonly error: string }[]
  readonly received: number
}

/** Sends one request to `/sync`. */
export type SendSync = (request: SyncRequest) => Promise<SyncAnswer>

/** Sends to the `/sync` of a tenant. */
export function syncOver(wire: Wire, tenant: string): SendSync {
  // A sync is idempotent, so it needs no Idempotency-Key.
  return (request) => wire.json(`/~${tenant}/sync`, { method: 'POST', body: request, once: true })
}

const MOST_SENT = 500

/** Synchronises a local database: sends what was done here, takes over what was done elsewhere, until nothing is left. */
export async function sync(
  store: LocalStore,
  send: SendSync,
  options: { readonly types?: readonly string[] } = {},
): Promise<SyncReport> {
  let unsent = store.pending.length
  let applied = 0
  let conflicts = 0
  let received = 0
  const rejected: { change: SyncChange; error: string }[] = []
  for (;;) {
    const changes = store.pending.slice(0, Math.min(MOST_SENT, unsent))
    const answer = await send({ replica: store.replica, lastSyncAt: store.lastSyncAt, changes, ...options })
    store.accept(changes, answer)
    await store.save()
    unsent -= changes.length
    applied += answer.applied
    conflicts += answer.conflicts
    received += answer.serverChanges.length
    for (const { index, error } of answer.rejected) rejected.push({ change: changes[index]!, error })
    if (!answer.hasMore && unsent <= 0) return { applied, conflicts, rejected, received }
  }
}
