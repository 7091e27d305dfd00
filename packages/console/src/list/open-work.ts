import type { Json } from '@tildebase/nouns'
import { type Noun, wordsOf } from '../values/noun.ts'

/** The words of states in which nothing is left to do. */
const ENDED =
  /^(closed|done|complete[d]?|resolved|won|lost|cancell?ed|archived|converted|disqualified|inactive|ended)$/i

/** What is not done yet. */
export function openFilter(noun: Noun): { readonly [field: string]: Json } {
  const ended = wordsOf(noun.fields[noun.stateField ?? '']).filter((word) => ENDED.test(word))
  return noun.stateField === null || ended.length === 0 ? {} : { [noun.stateField]: { $nin: ended } }
}

/** Whether a day is one to keep, and not one on which something happened. */
export function isPlan(name: string): boolean {
  return /^due|expected|scheduled|start|planned/i.test(name)
}
