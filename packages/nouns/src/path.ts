import type { Hop, Path } from './filter.ts'
import { didYouMean } from './nearest.ts'
import type { BackField, Field, ForwardField, Noun } from './noun.ts'

/** Looks up a noun by its name. */
export interface NounLookup {
  get(name: string): Noun | undefined
}

/** The reason why a path is not valid, as a sentence. */
export interface PathFault {
  readonly fault: string
}

/** The meta-fields of queries, each with its stored name. */
export const META_FIELDS: { readonly [name: string]: string } = {
  $id: '$id',
  $type: '$type',
  $version: '$version',
  $createdAt: '$createdAt',
  $updatedAt: '$updatedAt',
  $createdBy: '$createdBy',
  createdAt: '$createdAt',
  updatedAt: '$updatedAt',
}

const MOST_SEGMENTS = 3
const DEEPEST = 64

/**
 * Resolves `organization.industry` against a noun: relations in both directions, then a field, then steps into its
 * JSON.
 */
export function resolvePath(text: string, noun: Noun, nouns: NounLookup): Path | PathFault {
  const segments = text.split('.')
  if (segments.length > DEEPEST) return { fault: `${quoted(text)} goes deeper than ${DEEPEST} levels.` }
  const hops: Hop[] = []
  let at = noun
  for (const [index, segment] of segments.entries()) {
    const field = ownField(at, segment)
    const rest = segments.slice(index + 1)
    if (index >= MOST_SEGMENTS)
      return { fault: `${quoted(text)} is too long: at most ${MOST_SEGMENTS} segments, relations and the field.` }
    if (field?.kind === 'secret') return { fault: `${at.name} has no field ${quoted(segment)} that can be queried.` }
    if (!isRelation(field) || (field.kind === 'forward' && rest.length === 0))
      return ending(text, at, hops, segment, rest)
    const target = nouns.get(field.target)
    if (!target) return { fault: `${quoted(text)} points to ${field.target}, which is not a type of this tenant.` }
    hops.push(hopOf(at, field))
    if (rest.length === 0) return { text, hops, field: '$id', into: [] }
    at = target
  }
  return { fault: `${quoted(text)} is not a field.` }
}

/** The declaration of the field that a path ends at; undefined for meta-fields, undeclared ones and inside JSON. */
export function declaredField(path: Path, noun: Noun, nouns: NounLookup): Field | undefined {
  const last = path.hops.at(-1)
  const owner = last ? nouns.get(last.target) : noun
  return owner && path.into.length === 0 ? ownField(owner, path.field) : undefined
}

/** The relation of a noun by its name, in either direction. */
export function relationOf(noun: Noun, name: string): ForwardField | BackField | undefined {
  const field = ownField(noun, name)
  return isRelation(field) ? field : undefined
}

/** The names of a noun's relations, in both directions. */
export function relationNames(noun: Noun): string[] {
  return Object.values(noun.fields)
    .filter(isRelation)
    .map((field) => field.name)
}

/** One relation of a noun as a step of a path. */
export function hopOf(from: Noun, field: ForwardField | BackField): Hop {
  const { name, kind, target, list } = field
  const hop: Hop = { from: from.name, field: name, target, kind, list }
  return field.kind === 'back' ? { ...hop, via: field.via } : hop
}

function ending(
  text: string,
  noun: Noun,
  hops: readonly Hop[],
  name: string,
  into: readonly string[],
): Path | PathFault {
  const declared = ownField(noun, name) !== undefined
  const meta = !declared && Object.hasOwn(META_FIELDS, name) ? META_FIELDS[name] : undefined
  if (meta !== undefined && into.length > 0)
    return { fault: `${quoted(text)} goes into ${name}, which is a single value.` }
  if (meta === undefined && name.startsWith('$'))
    return { fault: `${quoted(name)} is neither an operator nor a meta-field.` }
  if (meta === undefined && !declared && noun.strict) {
    return { fault: `${noun.name} has no field ${quoted(name)}${didYouMean(name, Object.keys(noun.fields))}.` }
  }
  return { text, hops, field: meta ?? name, into }
}

function ownField(noun: Noun, name: string): Field | undefined {
  return Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
}

function isRelation(field: Field | undefined): field is ForwardField | BackField {
  return field?.kind === 'forward' || field?.kind === 'back'
}

/** A name from the client, shortened for a message. */
export function quoted(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name
}
