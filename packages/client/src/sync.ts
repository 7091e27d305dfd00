import type { JsonObject } from '@tildebase/nouns'
import type { LocalStore } from './local.ts'
import type { Wire } from './wire.ts'

/** A vector clock: counters by replica. */
export type Clock = { readonly [replica: string]: number }

/** A change, in either direction. */
export interface SyncChange {
  readonly type: string
  readonly id: string
  readonly operation: 'create' | 'update' | 'delete'
  readonly data: JsonObject
  readonly timestamp: string
  readonly clock?: Clock
}

export interface SyncRequest {
  readonly replica: string
  readonly lastSyncAt: string | null
  readonly changes: readonly SyncChange[]
  /** The types to hear of; all of them when absent. */
  readonly types?: readonly string[]
}

export interface SyncAnswer {
  readonly success: boolean
  readonly applied: number
  readonly conflicts: number
  readonly rejected: readonly { readonly index: number; readonly error: string }[]
  readonly serverChanges: readonly SyncChange[]
  readonly syncedAt: string
  readonly hasMore: boolean
}

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
  // Repeating a sync does no harm by itself: no key that remembers its answer is needed.
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
