import { invalid, type JsonObject, type Noun, Problem, SOURCE } from '@tildebase/nouns'
import { idOfSource } from '../store/entities.ts'
import type { VerbRequest } from './verb-request.ts'
import type { Write } from './write.ts'

/** Where an imported draft says that it came from, unless that is the source of another entity. */
export function keptSource({ engine, sql }: Write, noun: Noun, { data }: VerbRequest): JsonObject {
  const sources = (data as JsonObject)[SOURCE.name]
  if (!Array.isArray(sources) || sources.length === 0 || noun.storage === 'log') return {}
  if (!sources.every(isSource)) {
    throw invalid(noun.name, [{ field: SOURCE.name, message: 'must be a list of texts, such as hubspot:contact:123' }])
  }
  const number = engine.fieldNumber(noun.name, SOURCE.name)!
  for (const source of sources) {
    const holder = idOfSource(sql, number, source)
    if (holder !== undefined) {
      const message = `Another ${noun.name} has the source ${source} already: ${holder}.`
      throw new Problem('conflict', message, { type: noun.name, field: SOURCE.name })
    }
  }
  return { [SOURCE.name]: sources }
}

const LONGEST_SOURCE = 256

/** Whether a value can be a source: `hubspot:contact:123`. */
export function isSource(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_SOURCE && !/\p{Cc}/u.test(value)
}
