import type { JsonObject } from '@tildebase/nouns'

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
