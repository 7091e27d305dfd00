import { invalid, isPlainObject, listed, Problem } from '@tildebase/nouns'
import { currentOf } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'

/** Moves a Deal back to an earlier stage; `advance` moves it forward. */
export function revertDeal(write: Write, request: VerbRequest): RunResult {
  const noun = write.engine.noun('Deal')
  const order = noun.verbs.advance?.order ?? []
  const stage = isPlainObject(request.data) ? request.data.stage : undefined
  if (stage === undefined || stage === null) throw invalid('Deal', [{ field: 'stage', message: 'is required' }])
  const current = currentOf(write.sql, 'Deal', request.id ?? '')
  const from = current && !current.deleted ? String(JSON.parse(current.data).stage) : null
  const earlier = from === null ? null : order.slice(0, Math.max(order.indexOf(from), 0))
  // A deal that cannot be reverted at all is refused by the verb itself.
  if (earlier === null || earlier.length === 0 || earlier.includes(String(stage))) return applyVerb(write, request)
  throw new Problem('invalid_transition', `revert leads from ${from} to ${listed(earlier)}, not to ${stage}.`, {
    type: 'Deal',
    verb: 'revert',
    field: 'stage',
    state: from,
  })
}
