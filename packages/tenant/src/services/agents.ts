import type { JsonObject } from '@tildebase/nouns'
import { applyVerb } from '../write/verb.ts'
import type { RunResult, VerbRequest } from '../write/verb-request.ts'
import type { SpecialVerb, Write } from '../write/write.ts'

/** The verbs that ask something of an agent. */
const ASKING = ['do', 'ask', 'decide', 'approve', 'notify', 'delegate', 'escalate', 'learn', 'reflect', 'invoke']

const WARNING: JsonObject = { warning: 'not_configured' }

/** The verbs of Agent that the service itself does not carry out: their event is for a workflow or a webhook. */
export const agentVerbs: { readonly [name: string]: SpecialVerb } = Object.fromEntries(
  ASKING.map((verb) => [`Agent.${verb}`, recorded]),
)

/** Records what is asked, and says that the service calls no agent. */
function recorded(write: Write, request: VerbRequest): RunResult {
  return { ...applyVerb(write, request), warnings: [WARNING] }
}
