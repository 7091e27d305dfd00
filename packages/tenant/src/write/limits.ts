import { isoOf, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { INTERNAL_TYPES } from '../engine/types.ts'
import type { Grant } from '../grant/grant.ts'
import { CHANGESET } from '../grant/scopes.ts'
import { countWrite } from '../store/people/consents.ts'

const DAY = 86_400_000
/** A proposal changes nothing: another person decides about it. */
const PROPOSALS: readonly string[] = [CHANGESET, 'ChangesetPart']

/** Refuses an event that the limits of an agent's grant do not allow, and counts one that they do. */
export function demandWithinLimits({ sql, ports }: Engine, grant: Grant, type: string, verb: string): void {
  const { limits, credential } = grant
  if (limits === undefined || PROPOSALS.includes(type)) return
  demandVerb(grant, type, verb)
  const { writesPerDay } = limits
  if (writesPerDay === undefined || credential === undefined) return
  const now = ports.clock.now()
  if (countWrite(sql, credential, isoOf(now).slice(0, 10)) <= writesPerDay) return
  throw new Problem(
    'rate_limited',
    `This agent may write at most ${writesPerDay} times a day and has reached this limit.`,
    {
      limit: writesPerDay,
      retryAfter: Math.ceil((DAY - (now % DAY)) / 1_000),
    },
  )
}

/** Refuses a verb that is not among those that an agent may run. */
export function demandVerb({ limits }: Grant, type: string, verb: string): void {
  if (limits === undefined) return
  const { verbs } = limits
  // What they store runs without the limits, and on its own.
  if (type === 'Webhook' || type === 'Workflow') {
    throw new Problem('forbidden', `An agent with limits cannot write ${type}.`, { type })
  }
  // `create` names the verb of every type that a path can name, and not the declaration of a type.
  const isNamed = (verbs?.includes(verb) && !INTERNAL_TYPES.get(type)) || verbs?.includes(`${type}.${verb}`)
  if (verbs === undefined || isNamed) return
  throw new Problem('forbidden', `This agent may run ${verbs.join(', ') || 'no verbs'}, but not ${type}.${verb}.`, {
    type,
    verb,
  })
}
