import type { Path } from '../filter/filter.ts'
import { declaredField, type NounLookup, resolvePath } from '../filter/path.ts'
import { listed } from '../notation/english.ts'
import type { Expression, Field, Kind, Noun, ValueField } from '../noun.ts'
import type { Issue } from '../problem.ts'
import { MEASURES, pathsOf } from './expression.ts'

/** A field that is computed from others. */
export type ComputedField = ValueField & { readonly computed: Expression }

export function isComputed(field: Field | undefined): field is ComputedField {
  return field !== undefined && 'computed' in field && field.computed !== undefined
}

/** The computed fields of a type, each after those of the same type that it reads. */
export function computedFields(noun: Noun): readonly ComputedField[] {
  const known = orders.get(noun)
  if (known) return known
  const sorted: ComputedField[] = []
  const visit = (field: ComputedField, above: readonly string[]): void => {
    if (sorted.includes(field) || above.includes(field.name)) return
    for (const path of allPaths(field.computed)) {
      const used = noun.fields[path.split('.')[0]!]
      if (isComputed(used)) visit(used, [...above, field.name])
    }
    sorted.push(field)
  }
  for (const field of Object.values(noun.fields)) if (isComputed(field)) visit(field, [])
  orders.set(noun, sorted)
  return sorted
}

const orders = new WeakMap<Noun, readonly ComputedField[]>()

/** Sets the kind of each computed field to that of the fields it reads, which other types may declare. */
export function withComputedKinds(nouns: readonly Noun[]): readonly Noun[] {
  if (!nouns.some((noun) => computedFields(noun).some(({ computed }) => takesKind(computed)))) return nouns
  const lookup = { get: (name: string) => nouns.find((noun) => noun.name === name) }
  return nouns.map((noun) => {
    const changed = computedFields(noun).flatMap((field) => {
      const kind = kindOf(field, noun, lookup, [])
      return kind === field.kind ? [] : [[field.name, Object.freeze({ ...field, kind })] as const]
    })
    if (changed.length === 0) return noun
    const fields = Object.assign(Object.create(null), noun.fields, Object.fromEntries(changed))
    return Object.freeze({ ...noun, fields: Object.freeze(fields) })
  })
}

/** The errors of computed fields: paths to unknown fields or many values, and cycles. */
export function checkComputed(nouns: readonly Noun[], lookup: NounLookup): Issue[] {
  const issues: Issue[] = []
  for (const noun of nouns) {
    for (const field of computedFields(noun)) {
      const at = `${noun.name}.${field.name}`
      for (const message of pathFaults(field, noun, lookup)) issues.push({ field: at, message })
      const circle = circleFrom(noun, field, lookup)
      if (circle) issues.push({ field: at, message: `is computed from itself: ${circle.join(' → ')}` })
    }
  }
  return issues
}

function pathFaults({ computed }: ComputedField, noun: Noun, lookup: NounLookup): string[] {
  const { single, many } = pathsOf(computed)
  return [...single, ...many].flatMap((text) => {
    const path = resolvePath(text, noun, lookup)
    if ('fault' in path) return [path.fault.replace(/\.$/, '')]
    if (declared(path, noun, lookup) === undefined && path.field !== '$id') {
      return [`reads ${text}, which is not a declared field`]
    }
    if (path.field === '$id' && single.includes(text)) return [`reads ${text}, which is a relation; count it instead`]
    const isMany = path.hops.some(({ list }) => list) || declared(path, noun, lookup)?.list === true
    return isMany && single.includes(text) ? [`reads ${text}, which has many values; use ${listed(MEASURES)}`] : []
  })
}

/** The declared field at the end of a path; for a path into JSON, the JSON field. */
function declared(path: Path, noun: Noun, lookup: NounLookup): Field | undefined {
  return declaredField({ ...path, into: [] }, noun, lookup)
}

/** The cycle from a computed field through others back to itself, or null. */
function circleFrom(noun: Noun, field: ComputedField, lookup: NounLookup): string[] | null {
  const start = `${noun.name}.${field.name}`
  const seen = new Set<string>()
  const search = (owner: Noun, at: ComputedField, way: readonly string[]): string[] | null => {
    for (const [next, used] of usedBy(owner, at, lookup)) {
      const name = `${next.name}.${used.name}`
      if (name === start) return [...way, name]
      if (seen.has(name)) continue
      seen.add(name)
      const found = search(next, used, [...way, name])
      if (found) return found
    }
    return null
  }
  return search(noun, field, [start])
}

/** The computed fields that a computed field reads. */
function usedBy(noun: Noun, { computed }: ComputedField, lookup: NounLookup): [Noun, ComputedField][] {
  return allPaths(computed).flatMap((text): [Noun, ComputedField][] => {
    const path = resolvePath(text, noun, lookup)
    if ('fault' in path) return []
    const last = path.hops.at(-1)
    const owner = last ? lookup.get(last.target) : noun
    const field = owner && Object.hasOwn(owner.fields, path.field) ? owner.fields[path.field] : undefined
    return owner && isComputed(field) ? [[owner, field]] : []
  })
}

/** Arithmetic and the other aggregate functions always return numbers. */
function takesKind({ op }: Expression): boolean {
  return op === 'path' || op === 'min' || op === 'max'
}

function kindOf(field: ComputedField, noun: Noun, lookup: NounLookup, above: readonly ComputedField[]): Kind {
  const { computed } = field
  if (!('path' in computed) || !takesKind(computed) || above.includes(field)) return 'number'
  const path = resolvePath(computed.path, noun, lookup)
  if ('fault' in path) return 'number'
  const last = path.hops.at(-1)
  const owner = last ? lookup.get(last.target) : noun
  const used = owner && Object.hasOwn(owner.fields, path.field) ? owner.fields[path.field] : undefined
  if (isComputed(used)) return kindOf(used, owner!, lookup, [...above, field])
  if (used === undefined || used.kind === 'back' || used.kind === 'secret' || used.kind === 'file') return 'number'
  if (used.kind === 'json') return computed.op === 'path' ? 'json' : 'number'
  // The values of an enum belong to the field that declares them.
  return used.kind === 'forward' || used.kind === 'enum' ? 'string' : used.kind
}

function allPaths(expression: Expression): string[] {
  const { single, many } = pathsOf(expression)
  return [...single, ...many]
}
