import { isoOf, type JsonObject, type Verb } from '@tildebase/nouns'
import type { Current } from '../../store/entities.ts'
import type { Change } from './change.ts'
import type { SyncSession } from './sync-session.ts'

/** A verb of the service's own: it changes nothing, and keeps in the log what lost. */
const CONFLICT: Verb = { name: 'conflict', before: 'conflicting', event: 'conflicted' }

/**
 * Stores the values that lost: an event `conflicted` with the current state as its data, and
 * in `previous` the losing values, who brought them and when they were made. The entity keeps its version.
 */
export function conflicted({ write }: SyncSession, change: Change, current: Current, lost: JsonObject): void {
  const previous = { ...lost, $timestamp: isoOf(change.at), $replica: change.replica }
  write.append(CONFLICT, { ...current, updatedAt: write.now() }, { previous })
}
