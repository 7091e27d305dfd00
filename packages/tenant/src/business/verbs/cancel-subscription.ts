import { isPlainObject } from '@tildebase/nouns'
import { applyVerb, verbOf } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'

/** Cancels a Subscription, at once or at the end of its period: then it keeps its status until that time. */
export function cancelSubscription(write: Write, request: VerbRequest): RunResult {
  const isLater = isPlainObject(request.data) && request.data.cancelAtPeriodEnd === true
  if (!isLater) return applyVerb(write, request)
  const verb = verbOf(write.engine.noun('Subscription'), 'cancel')
  const { status: _, ...set } = verb.set ?? {}
  return applyVerb(write, { ...request, internalVerb: { ...verb, set } })
}
