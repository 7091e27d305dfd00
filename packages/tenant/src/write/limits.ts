import { isoOf, type Noun, Problem } from '@tildebase/nouns'
import { countWrite } from '../store/consents.ts'
import type { Write } from './write.ts'

const DAY = 86_400_000

/** Refuses a verb that the limits of an agent's grant do not allow, and counts one that they do. */
export function demandWithinLimits({ grant, engine, sql }: Write, noun: Noun, verb: string): void {
  const { limits, credential } = grant
  if (limits === undefined) return
  const { verbs, writesPerDay } = limits
  // What they store runs without the limits, and on its own.
  if (noun.name === 'Webhook' || noun.name === 'Workflow')
    throw new Problem('forbidden', `An agent with limits cannot write ${noun.name}.`, { type: noun.name })
  if (verbs && !verbs.includes(verb) && !verbs.includes(`${noun.name}.${verb}`)) {
    throw new Problem(
      'forbidden',
      `This agent may run ${verbs.join(', ') || 'no verbs'}, but not ${noun.name}.${verb}.`,
      {
        type: noun.name,
        verb,
      },
    )
  }
  if (writesPerDay === undefined || credential === undefined) return
  const now = engine.ports.clock.now()
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
