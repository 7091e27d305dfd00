import type { Json, JsonObject } from '../noun.ts'
import { isPlainObject } from '../value/json.ts'

/** A notation with a renamed field, in all places of the same type. */
export function renameInNotation(notation: JsonObject, from: string, to: string): JsonObject {
  return mapEntries(notation, (key, value) => {
    if (key === '$timers' && isPlainObject(value)) return [key, timers(value as JsonObject, from, to)]
    if (key === '$unique' && Array.isArray(value))
      return [key, value.map((names) => renameWords(names as Json, from, to))]
    if (key.startsWith('$')) return [key, value]
    const name = key === from ? to : key
    if (isPlainObject(value)) return [name, renameInVerb(value as JsonObject, from, to)]
    return [name, typeof value === 'string' ? renameInExpression(value, from, to) : value]
  })
}

/** The fields of an entity under their new names, in their order. */
export function renameField(state: JsonObject, from: string, to: string): JsonObject {
  return mapEntries(state, (key, value) => [key === from ? to : key, value])
}

function renameInVerb(verb: JsonObject, from: string, to: string): JsonObject {
  return mapEntries(verb, (part, value) => {
    if (part === 'set' && isPlainObject(value)) {
      const argument = (one: Json) => (one === `$args.${from}` ? `$args.${to}` : one)
      return [part, mapEntries(value as JsonObject, (key, one) => [key === from ? to : key, argument(one)])]
    }
    return [part, part === 'args' ? renameWords(value, from, to) : value]
  })
}

function timers(given: JsonObject, from: string, to: string): JsonObject {
  return mapEntries(given, (name, timer) => {
    if (!isPlainObject(timer)) return [name, timer]
    const renamed = mapEntries(timer as JsonObject, (part, value) => {
      if (part === 'at' && value === from) return [part, to]
      return [part, part === 'when' ? renameInFilter(value, from, to) : value]
    })
    return [name, renamed]
  })
}

function renameInFilter(filter: Json, from: string, to: string): Json {
  if (Array.isArray(filter)) return filter.map((part) => renameInFilter(part as Json, from, to))
  if (!isPlainObject(filter)) return filter
  return mapEntries(filter as JsonObject, (key, value) => {
    if (key.startsWith('$')) return [key, renameInFilter(value, from, to)]
    const [head, ...rest] = key.split('.')
    return [head === from ? [to, ...rest].join('.') : key, value]
  })
}

/** `= price * quantity` with another name for `price`; only the first word of a path is a field of this type. */
function renameInExpression(text: string, from: string, to: string): string {
  if (!text.trim().startsWith('=')) return text
  return text.replace(/([A-Za-z_][A-Za-z0-9_.]*)(\s*\(?)/g, (_, path: string, after: string) => {
    const [head, ...rest] = path.split('.')
    const isMeasure = after.endsWith('(')
    return `${head === from && !isMeasure ? [to, ...rest].join('.') : path}${after}`
  })
}

function renameWords(words: Json, from: string, to: string): Json {
  if (Array.isArray(words)) return words.map((word) => (word === from ? to : word)) as Json
  return words === from ? to : words
}

function mapEntries(object: JsonObject, map: (key: string, value: Json) => readonly [string, Json]): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => map(key, value)))
}
