import type { Json, JsonObject } from '../noun.ts'

/** Compares two texts by code point, as SQLite does; JavaScript's own `<` compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return lifted(x) - lifted(y)
  }
  return a.length - b.length
}

/** Whether two JSON values are the same, regardless of the order of keys. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, i) => sameJson(one, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key]!, b[key]!))
  )
}

/** JSON as text that is the same for the same values, whatever the order of their keys. */
export function orderedJson(value: Json): string {
  return JSON.stringify(inOrder(value))
}

function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key]!)]))
}

/**
 * The order of JSON values in MongoDB: null, numbers, texts, objects, lists, booleans. Lists compare element by
 * element. Objects are compared key by key in sorted order, because they are equal regardless of the order.
 */
export function compareJson(a: Json, b: Json): number {
  const difference = rank(a) - rank(b)
  if (difference !== 0) return difference
  if (typeof a === 'string') return compareText(a, b as string)
  if (Array.isArray(a)) return compareLists(a, b as readonly Json[])
  return isObject(a) ? compareLists(sortedEntries(a), sortedEntries(b as JsonObject)) : Number(a) - Number(b)
}

function rank(value: Json): number {
  if (value === null) return 0
  const kinds = ['number', 'string', 'object', 'list', 'boolean']
  return 1 + kinds.indexOf(Array.isArray(value) ? 'list' : typeof value)
}

function compareLists(a: readonly Json[], b: readonly Json[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = compareJson(a[i]!, b[i]!)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function sortedEntries(object: JsonObject): [string, Json][] {
  return Object.entries(object).sort(([a], [b]) => compareText(a, b))
}

/** Whether a value is an object, not a list or null. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A UTF-16 unit in the order of code points: surrogates represent what lies above U+FFFF. */
function lifted(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
