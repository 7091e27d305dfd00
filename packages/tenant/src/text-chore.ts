import type { Chore } from './household.ts'
import { foldText, textBacklog } from './query/text.ts'
import type { Tenant } from './tenant.ts'

const QUIET_MS = 300
const SLICE = 500
/** Folding this many keeps the search that finds them waiting for about a second. */
const MOST_BEHIND = 10_000

/**
 * Folds new events into the text index once writing pauses, a slice at a time, so that the first search need not.
 * Where writing does not pause, it goes on beside it.
 */
export function textChore(tenant: Tenant): Chore {
  let written = 0
  let behind = textBacklog(tenant.sql, tenant.head.seq)
  const due = () => (behind === 0 ? null : behind > MOST_BEHIND ? written : written + QUIET_MS)
  tenant.listen((events) => {
    const wasDue = due()
    written = tenant.ports.clock.now()
    behind += events.length
    if (wasDue === null || behind > MOST_BEHIND) tenant.ports.alarm.wakeAt(due()!)
  })
  return {
    light: true,
    due,
    run: () => {
      const folded = foldText(tenant.sql, tenant.nouns, SLICE)
      behind = folded < SLICE ? 0 : Math.max(1, behind - folded)
    },
  }
}
