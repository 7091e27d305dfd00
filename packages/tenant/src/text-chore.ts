import type { Chore } from './household.ts'
import { foldText, isTextBehind } from './query/text.ts'
import type { Tenant } from './tenant.ts'

const QUIET_MS = 300
const SLICE = 500

/** Folds new events into the text index once writing pauses, a slice at a time, so that the first search need not. */
export function textChore(tenant: Tenant): Chore {
  let written = 0
  let behind = isTextBehind(tenant.sql, tenant.head.seq)
  tenant.listen(() => {
    written = tenant.ports.clock.now()
    if (!behind) tenant.ports.alarm.wakeAt(written + QUIET_MS)
    behind = true
  })
  return {
    light: true,
    due: () => (behind ? written + QUIET_MS : null),
    run: () => {
      behind = foldText(tenant.sql, tenant.nouns, SLICE) === SLICE
    },
  }
}
