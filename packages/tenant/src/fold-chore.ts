import type { Chore } from './household.ts'
import { foldText, textBacklog } from './query/words.ts'
import { foldPast, pastBacklog } from './store/past.ts'
import type { Tenant } from './tenant.ts'

const QUIET_MS = 300
const TEXT_SLICE = 500
/** The more at once, the fewer pages are written; this many take some 20 ms. */
const PAST_SLICE = 2_000
/** Folding this many keeps the search that finds them waiting for some tenths of a second. */
const MOST_BEHIND = 10_000

/**
 * Folds new events into the text index and the past once writing pauses, a slice at a time, so that the first question
 * need not. Where writing does not pause, it goes on beside it.
 */
export function foldChore(tenant: Tenant): Chore {
  let written = 0
  let behind = Math.max(textBacklog(tenant.sql, tenant.head.seq), pastBacklog(tenant.sql))
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
      const past = foldPast(tenant.sql, PAST_SLICE)
      const texts = foldText(tenant.sql, tenant.nouns, TEXT_SLICE)
      behind = past < PAST_SLICE && texts < TEXT_SLICE ? 0 : Math.max(1, behind - TEXT_SLICE)
    },
  }
}
