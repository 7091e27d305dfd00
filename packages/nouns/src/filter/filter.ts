import type { Json } from '../noun.ts'

/** A parsed filter. A leaf is about one path; its operand has been checked and normalised. */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'text'; readonly words: readonly string[] }
  | Leaf

export interface Leaf {
  readonly op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'exists' | 'regex'
  readonly path: Path
  /** eq and comparisons: the value. in: a list. exists: true or false. regex: `{pattern, flags}`. */
  readonly value: Json
  /** The operand as it was sent, if it was relative to the time: `7d ago`. Cursors contain this one. */
  readonly said?: Json
}

/** A path, resolved against the noun: relations first, then the field, then the steps into its JSON. */
export interface Path {
  /** As the client wrote it, for messages and cursors. */
  readonly text: string
  readonly hops: readonly Hop[]
  /** A field name, or one of the meta-fields. */
  readonly field: string
  /** Steps into a json field or an undeclared one. */
  readonly into: readonly string[]
}

/** One relation followed: from a type by a field to a type. */
export interface Hop {
  readonly from: string
  readonly field: string
  readonly target: string
  /** forward: `from`'s field holds ids of `target`. back: `target`'s field `via` holds ids of `from`. */
  readonly kind: 'forward' | 'back'
  readonly list: boolean
  readonly via?: string
}

/** The filter that matches every entity. */
export const EVERYTHING: Filter = { op: 'and', of: [] }

/** One filter that combines all of these with AND. */
export function allOf(filters: readonly Filter[]): Filter {
  const parts = filters.flatMap((filter) => (filter.op === 'and' ? filter.of : [filter]))
  return parts.length === 1 ? parts[0]! : { op: 'and', of: parts }
}

/** The types that a filter reads through relations. */
export function touches(filter: Filter): Set<string> {
  if ('path' in filter) return new Set(filter.path.hops.map((hop) => hop.target))
  if (filter.op === 'text') return new Set()
  if (filter.op === 'not') return touches(filter.of)
  return new Set(filter.of.flatMap((part) => [...touches(part)]))
}
