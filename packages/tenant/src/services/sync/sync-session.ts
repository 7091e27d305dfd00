import type { Write } from '../../write/write.ts'

/** The write that brings changes, and what its sender had seen. */
export interface SyncSession {
  readonly write: Write
  readonly lastSyncAt: number | null
}
