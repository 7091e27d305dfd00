import { type Filter, type Noun, type NounLookup, parseFilter } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import { regexFault } from '../words/regex.ts'

/** A filter in the query language, parsed for a type. */
export function filterOf(engine: Engine, noun: Noun, json: unknown, nouns: NounLookup = engine.nouns): Filter {
  return parseFilter(json ?? {}, noun, nouns, engine.nextTime(), { regex: regexFault })
}

/** The types as the filters of a grant reach them: behind a relation to any type are those that it may read. */
export function reachableNouns({ nouns }: Engine, grant: Grant): NounLookup {
  return {
    get: (name) => nouns.get(name),
    get all() {
      return nouns.all.filter((noun) => may(grant, 'read', noun))
    },
  }
}

/** Whether a parsed filter, as JSON, has an operand that is relative to the time. */
export function isRelative(filter: string): boolean {
  return filter.includes('"said"')
}
