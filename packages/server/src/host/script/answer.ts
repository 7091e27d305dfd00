import { isDeeper, type Json } from '@tildebase/nouns'
import type { ScriptAnswer } from '@tildebase/tenant/ports'
import type { Outcome } from './messages.ts'

/** Far more than entities have, and far fewer than overflow the stack of what writes them as JSON. */
const MOST_LEVELS = 500

/** The end of a run as its caller reads it. */
export function answerOf({ result, error, logs }: Outcome): ScriptAnswer {
  if (error) return { error, logs }
  if (result === undefined) return { logs }
  const value = JSON.parse(result) as Json
  if (!isDeeper(value, MOST_LEVELS)) return { result: value, logs }
  const message = `The result is nested more than ${MOST_LEVELS} levels deep. Return less data.`
  return { error: { code: 'script_result', message }, logs }
}
