import type { Json, JsonObject } from '../noun.ts'
import { indexTokens, searchTokens } from '../words.ts'
import { compareJson, compareText, isObject, orderedJson, sameJson } from './compare.ts'
import type { Filter, Hop, Leaf } from './filter.ts'

/** The target entities of a relation, as flat objects of fields and meta-fields. */
export type Follow = (hop: Hop, entity: JsonObject) => readonly JsonObject[]

/** A compiled regular expression. */
export type Regex = (pattern: string, flags: string) => (text: string) => boolean

/**
 * Whether an entity, a flat object of fields and meta-fields, matches a filter: the semantics of MongoDB, in memory.
 */
export function match(filter: Filter, entity: JsonObject, follow: Follow, regex: Regex): boolean {
  return matcher(filter, follow, regex)(entity)
}

/**
 * The same for many entities: the filter is prepared once. `look` is called with the number of elements of each list that a
 * condition looks at, and may end the work by throwing.
 */
export function matcher(
  filter: Filter,
  follow: Follow,
  regex: Regex,
  look: Look = () => {},
): (entity: JsonObject) => boolean {
  switch (filter.op) {
    case 'and': {
      const parts = filter.of.map((part) => matcher(part, follow, regex, look))
      return (entity) => parts.every((part) => part(entity))
    }
    case 'or': {
      const parts = filter.of.map((part) => matcher(part, follow, regex, look))
      return (entity) => parts.some((part) => part(entity))
    }
    case 'not': {
      const part = matcher(filter.of, follow, regex, look)
      return (entity) => !part(entity)
    }
    case 'text':
      return (entity) => matchWords(filter.words, entity)
    case 'exists':
      return (entity) => filter.value === someRelated(filter, entity, 0, { follow, look, test: isThere })
    default: {
      const test = tester(filter, regex, look)
      return (entity) => someRelated(filter, entity, 0, { follow, look, test })
    }
  }
}

const isThere: Test = (value) => value !== undefined && value !== null

/** Whether a leaf matches a missing value: `null` means missing too. */
export function meetsMissing(leaf: Leaf): boolean {
  if (leaf.op === 'in') return (leaf.value as readonly Json[]).includes(null)
  return leaf.op === 'eq' && leaf.value === null
}

/** `whole` for a list that was selected by a number in the path: it is compared as a whole, not by element. */
type Test = (value: Json | undefined, whole?: boolean) => boolean

/** Counts elements of lists. */
export type Look = (elements: number) => void

/** What the values at the end of a path are tested with. */
interface Testing {
  readonly follow: Follow
  readonly look: Look
  readonly test: Test
}

/** Follows the relations of a path: one matching related entity is enough; an empty relation is a missing value. */
function someRelated(leaf: Leaf, entity: JsonObject, step: number, testing: Testing): boolean {
  const { path } = leaf
  const hop = path.hops[step]
  if (!hop) return someReached(own(entity, path.field), path.into, testing)
  const related = testing.follow(hop, entity)
  if (related.length === 0) return meetsMissing(leaf)
  return related.some((one) => someRelated(leaf, one, step + 1, testing))
}

/** Whether a value at the end of a path into JSON matches; undefined is a missing value. */
function someReached(value: Json | undefined, into: readonly string[], testing: Testing, whole = false): boolean {
  const { test, look } = testing
  const [step, ...rest] = into
  if (step === undefined) return test(value, whole)
  if (isObject(value)) return someReached(own(value, step), rest, testing)
  if (!Array.isArray(value)) return test(undefined)
  look(value.length)
  if (isIndex(step)) return someAtIndex(value, step, into, rest, testing)
  if (value.length === 0) return test(undefined)
  return value.some((one) => (isObject(one) ? someReached(one, into, testing) : test(undefined)))
}

/** `lines.0`: the element at that index, or that key of any element that has it. */
function someAtIndex(
  list: readonly Json[],
  step: string,
  into: readonly string[],
  rest: readonly string[],
  testing: Testing,
) {
  const keyed = list.filter((one) => isObject(one) && Object.hasOwn(one, step))
  const there = Number(step) < list.length
  if (!there && keyed.length === 0) return testing.test(undefined)
  return (
    (there && someReached(list[Number(step)], rest, testing, true)) ||
    keyed.some((one) => someReached(one, into, testing))
  )
}

/** Whether a step into JSON is an index of a list. */
export function isIndex(step: string): boolean {
  return /^(?:0|[1-9]\d{0,8})$/.test(step)
}

/** The test of a leaf's operand: on the value itself, and on each element when it is a list. */
function tester(leaf: Leaf, regex: Regex, look: Look): Test {
  const one = singleTest(leaf, regex)
  return (value, whole) => {
    if (one(value)) return true
    if (whole || !Array.isArray(value)) return false
    look(value.length)
    return value.some((element) => one(element))
  }
}

function singleTest({ op, value: operand }: Leaf, regex: Regex): Test {
  if (op === 'eq') return (value) => same(value, operand)
  if (op === 'in') return amongTest(operand as readonly Json[])
  if (op === 'regex') {
    const { pattern, flags } = operand as { readonly pattern: string; readonly flags: string }
    const found = regex(pattern, flags)
    return (value) => typeof value === 'string' && found(value)
  }
  if (Array.isArray(operand)) return (value) => Array.isArray(value) && holds(op, compareJson(value, operand))
  return (value) => typeof value === typeof operand && holds(op, compareScalars(value as Json, operand))
}

/** Whether a value is one of many, without looking at each of them. */
function amongTest(values: readonly Json[]): (value: Json | undefined) => boolean {
  const scalars = new Set(values.filter((one) => !isComposite(one)))
  const others = new Set(values.filter(isComposite).map(orderedJson))
  return (value = null) => {
    if (!isComposite(value)) return scalars.has(value)
    return others.size > 0 && others.has(textOf(value as object & Json))
  }
}

/** The texts of values that conditions compare: one value may be compared by many. */
const TEXTS = new WeakMap<object, string>()

function textOf(value: object & Json): string {
  const known = TEXTS.get(value)
  if (known !== undefined) return known
  const text = orderedJson(value)
  TEXTS.set(value, text)
  return text
}

function isComposite(value: Json): boolean {
  return typeof value === 'object' && value !== null
}

function same(value: Json | undefined, operand: Json): boolean {
  return sameJson(value ?? null, operand)
}

function compareScalars(a: Json, b: Json): number {
  if (typeof a === 'string') return compareText(a, b as string)
  return typeof a === 'object' ? Number.NaN : Number(a) - Number(b)
}

function holds(op: Leaf['op'], difference: number): boolean {
  if (op === 'gt') return difference > 0
  if (op === 'gte') return difference >= 0
  return op === 'lt' ? difference < 0 : difference <= 0
}

/** Whether the strings of an entity contain all these words, each at least as a prefix. */
export function matchWords(words: readonly string[], entity: JsonObject): boolean {
  const texts = Object.entries(entity).flatMap(([name, value]) => (name.startsWith('$') ? [] : textsOf(value)))
  const tokens = texts.map((text) => ` ${indexTokens(text).join(' ')}`)
  const wanted = words.map((word) => searchTokens(word).join(' ')).filter((word) => word !== '')
  return wanted.length > 0 && wanted.every((word) => tokens.some((text) => text.includes(` ${word}`)))
}

/** Every string inside a JSON value. */
export function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
