import { visibilityOf } from '../../query/rights/visibility.ts'
import type { Current } from '../../store/entities.ts'
import { readEntry } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'

/** The write that brings changes, and what its sender had seen. */
export interface SyncSession {
  readonly write: Write
  readonly lastSyncAt: number | null
}

/** Whether the grant sees a deleted entity: the record of its deletion tells. */
export function wasSeenLast({ write: { engine, grant } }: SyncSession, { seq }: Current): boolean {
  return visibilityOf(engine, grant, null).show(readEntry(engine.sql, seq)!) !== null
}
