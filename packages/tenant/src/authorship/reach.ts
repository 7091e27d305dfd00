import { type Filter, type Noun, Problem, touches } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type Grant, may } from '../grant/grant.ts'
import { type Action, isServiceType } from '../grant/scopes.ts'
import { filterOf } from '../query/parameters/filter.ts'

/** A right that a stored thing needs: an action on a type, on every row of it where `allRows` says so. */
export interface Reach {
  readonly action: Extract<Action, 'read' | 'write' | 'admin'>
  readonly noun: Noun
  readonly allRows?: boolean
}

/** A thing that reads every row of a type. */
export function readsAll(noun: Noun): Reach {
  return { action: 'read', noun, allRows: true }
}

/** A thing that changes entities of a type: one of the service's own types needs an administrator. */
export function changes(noun: Noun, allRows = false): Reach {
  return { action: isServiceType(noun.name) ? 'admin' : 'write', noun, allRows }
}

/** Refuses a caller whose grant does not cover what a thing reaches. A trial of a proposal needs the right to propose. */
export function demandReach(grant: Grant, what: string, reach: readonly Reach[], isTrial = false): void {
  const missing = reach.find((one) => !isCovered(grant, one, isTrial))
  if (missing === undefined) return
  const { action, noun } = missing
  const isPartial = may(grant, isTrial ? 'propose' : action, noun)
  const reason = isPartial
    ? `This key has a row filter on ${noun.name}, and the ${what} would not have one.`
    : `This key may not ${action} ${noun.name}.`
  throw new Problem('forbidden', `The ${what} would act with more rights than its author has. ${reason}`, {
    type: noun.name,
    missing: `${action}:${noun.name}`,
  })
}

/** Whether a grant has a right that a thing needs, now. */
export function isCovered(grant: Grant, { action, noun, allRows }: Reach, isTrial = false): boolean {
  const needed = isTrial && action === 'write' ? 'propose' : action
  return may(grant, needed, noun) && !(allRows && Object.hasOwn(grant.rows, noun.name))
}

/** What a filter reads in addition to the rows that it is about: every row of the types behind its relations. */
export function reachOfFilter(engine: Engine, filter: Filter): Reach[] {
  return [...touches(filter)].map((type) => readsAll(engine.noun(type)))
}

/**
 * The one constructor of filters that are stored: row filters, filters of workflows, conditions of timers. It refuses a
 * filter that reads a type or a row which its author may not read. The filter then needs no narrowing: it is evaluated as
 * its author sees.
 */
export function storedFilter(engine: Engine, author: Grant, noun: Noun, json: unknown): Filter {
  const filter = filterOf(engine, noun, json)
  demandReach(author, 'filter', reachOfFilter(engine, filter))
  return filter
}
