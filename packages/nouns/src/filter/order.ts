import { listed } from '../notation/english.ts'
import type { Json, JsonObject, Noun } from '../noun.ts'
import { Problem } from '../problem.ts'
import { compareText, isObject } from './compare.ts'
import type { Path } from './filter.ts'
import { isIndex } from './match.ts'
import { type NounLookup, quoted, resolvePath } from './path.ts'

/** One key of an order. */
export interface SortKey {
  readonly path: Path
  readonly descending: boolean
}

const MOST_KEYS = 8
const UP: readonly unknown[] = [1, 'asc', '1']
const DOWN: readonly unknown[] = [-1, 'desc', '-1']

/** Parses `stage,-value`, or `{stage: 1, value: 'desc'}`. An empty or missing value has no keys. */
export function parseSort(input: unknown, noun: Noun, nouns: NounLookup): SortKey[] {
  const asked = namesAndDirections(input)
  if (asked.length > MOST_KEYS)
    throw new Problem('invalid_sort', `Sort by at most ${MOST_KEYS} fields.`, { type: noun.name })
  return asked.map(([name, descending]) => ({ path: sortPath(name, noun, nouns), descending }))
}

/** Compares two entities in an order: ties follow their creation, in the direction of the first key. */
export function comparator(keys: readonly SortKey[]) {
  const down = keys[0]?.descending ?? true
  return (a: Placed, b: Placed): number => {
    for (const { path, descending } of keys) {
      const difference = compareSortValues(sortValue(a.entity, path, descending), sortValue(b.entity, path, descending))
      if (difference !== 0) return descending ? -difference : difference
    }
    return down ? b.n - a.n : a.n - b.n
  }
}

/** An entity as a flat object of fields and meta-fields, with its number in the order of creation. */
export interface Placed {
  readonly n: number
  readonly entity: JsonObject
}

/**
 * The sort value of an entity: for a list the smallest element, or the greatest when descending; an empty list is null.
 * As
 * in SQLite, a boolean sorts as 0 or 1, and an object or a list in a list as its JSON text.
 */
export function sortValue(entity: JsonObject, path: Path, descending: boolean): null | number | string {
  const values = reached(entity, [path.field, ...path.into]).map(sortable)
  return values.reduce((best, one) => (compareSortValues(one, best) > 0 === descending ? one : best))
}

/**
 * The values at the end of a path, at least one. A list counts as its elements, unless a number in the path selected
 * it.
 */
function reached(value: Json | undefined, steps: readonly string[]): readonly (Json | undefined)[] {
  const [step, ...rest] = steps
  if (Array.isArray(value) && step !== undefined && isIndex(step)) return reached(value[Number(step)], rest)
  if (Array.isArray(value)) {
    if (value.length === 0) return [undefined]
    return step === undefined ? value : value.flatMap((one) => (isObject(one) ? reached(one, steps) : [undefined]))
  }
  if (step === undefined) return [value]
  return isObject(value) && Object.hasOwn(value, step) ? reached(value[step], rest) : [undefined]
}

function sortable(value: Json | undefined): null | number | string {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return value ?? null
}

/** Null first, then numbers, then strings by code point. */
export function compareSortValues(a: null | number | string, b: null | number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  return rank(a) - rank(b)
}

function rank(value: null | number | string): number {
  return value === null ? 0 : typeof value === 'number' ? 1 : 2
}

function namesAndDirections(input: unknown): (readonly [string, boolean])[] {
  if (input === undefined || input === null || input === '') return []
  if (typeof input === 'string') return input.split(',').map((part) => readName(part.trim()))
  if (typeof input !== 'object' || Array.isArray(input)) throw wrongShape()
  return Object.entries(input).map(([name, direction]) => {
    if (UP.includes(direction)) return [name, false] as const
    if (DOWN.includes(direction)) return [name, true] as const
    throw new Problem('invalid_sort', `The direction of ${quoted(name)} must be 1, -1, asc or desc.`, {
      field: quoted(name),
    })
  })
}

function readName(part: string): readonly [string, boolean] {
  const name = part.replace(/^[+-]/, '')
  if (name === '') throw wrongShape()
  return [name, part.startsWith('-')]
}

function wrongShape(): Problem {
  return new Problem(
    'invalid_sort',
    'sort must be field names, such as stage,-value, or an object such as {"stage": 1, "value": -1}.',
    {
      field: 'sort',
    },
  )
}

function sortPath(name: string, noun: Noun, nouns: NounLookup): Path {
  const path = resolvePath(name, noun, nouns)
  const field = quoted(name)
  if ('fault' in path) throw new Problem('invalid_sort', path.fault, { type: noun.name, field })
  if (path.hops.length > 0) {
    const own = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
    const names = listed(own.map((one) => one.name).slice(0, 12))
    throw new Problem('invalid_sort', `${field} is not a field of ${noun.name} itself. Sort by ${names}.`, {
      type: noun.name,
      field,
    })
  }
  return path
}
