import { type Filter, type Noun, parseFilter } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { regexFault } from '../words/regex.ts'

/** A filter in the query language, parsed for a type. */
export function filterOf(engine: Engine, noun: Noun, json: unknown): Filter {
  return parseFilter(json ?? {}, noun, engine.nouns, engine.nextTime(), { regex: regexFault })
}

/** Whether a parsed filter, as JSON, has an operand that is relative to the time. */
export function isRelative(filter: string): boolean {
  return filter.includes('"said"')
}
