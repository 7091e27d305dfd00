import { checkArguments, type Json, type JsonObject, type Verb } from '@tildebase/nouns'
import { grantFor } from '../../grant/grant.ts'
import type { RunRow, RunState } from '../../store/automation/workflow-runs.ts'
import { stepsOf } from '../../store/automation/workflow-steps.ts'
import { currentOf } from '../../store/entities.ts'
import { readEntry } from '../../store/log/log.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'

/** Verbs of the service's own. */
const ANSWER: Verb = { name: 'answer', before: 'answering', event: 'answered', keeps: 'event' }
const FAIL: Verb = { name: 'fail', before: 'failing', event: 'failed', keeps: 'event' }

/** Keeps the answer of an agent, or why there is none, as an event of the agent. */
export function endCall(write: Write, run: RunRow, state: RunState, error: string | null): null {
  const { sql } = write
  const current = currentOf(sql, 'Agent', run.workflow)
  if (!current || current.deleted) return null
  const asked = run.seq === null ? undefined : readEntry(sql, run.seq)
  const about: JsonObject = { verb: asked?.verb ?? null, call: asked?.id ?? null, run: run.id }
  const internalVerb = state === 'Succeeded' ? ANSWER : FAIL
  const data: JsonObject = state === 'Succeeded' ? { ...about, answer: answerOf(write, run) } : { ...about, error }
  const own = write.within({ ignoresQuota: true }).as(grantFor(`agent:${current.id}`))
  applyVerb(own, { type: 'Agent', verb: internalVerb.name, id: current.id, data, internalVerb })
  return null
}

/** The answer: the body of the response, or the result of the tool. */
function answerOf({ sql }: Write, { n }: RunRow): Json {
  const output = stepsOf(sql, n).at(-1)?.output
  const result = output === null || output === undefined ? null : (JSON.parse(output) as JsonObject | null)
  const answer = result?.body ?? null
  // What cannot be part of an event, such as a name that is not allowed, is kept as a text.
  return checkArguments({ answer }).issues.length === 0 ? answer : JSON.stringify(answer)
}
