import { type JsonObject, matcher, type Noun, nounsOf, parseFilter, parseNoun } from '@tildebase/nouns'
import { ElementCount } from '../../../query/answer/elements.ts'
import { regexFault, regexTest } from '../../../query/words/regex.ts'
import { resolve, type Sources } from '../values.ts'

/** A run as a filter sees it. It has no relations, so that a condition reads nothing but the run itself. */
const RUN: Noun = parseNoun('Run', { event: 'json', steps: 'json' })
const ONLY_RUN = nounsOf([RUN])

/** Refuses a condition that is not a filter over `{event, steps}`. */
export function checkCondition(condition: unknown, now: number): void {
  parseFilter(condition, RUN, ONLY_RUN, now, { regex: regexFault })
}

/** Whether a run passes the condition of a step. Values of the condition may be references, too. */
export function passesCondition(condition: JsonObject, sources: Sources, now: number): boolean {
  const filter = parseFilter(resolve(condition, sources) ?? {}, RUN, ONLY_RUN, now, { regex: regexFault })
  const run = { event: sources.event, steps: sources.steps.map((one) => one ?? null) }
  return matcher(filter, () => [], regexTest, new ElementCount().look)(run)
}
