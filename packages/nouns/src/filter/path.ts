import { didYouMean } from '../nearest.ts'
import { listed } from '../notation/english.ts'
import { ANY_TYPE, type BackField, type Field, type ForwardField, type Noun, SOURCE } from '../noun.ts'
import { FILE_PARTS, isFilePart } from '../value/file.ts'
import type { Hop, Path } from './filter.ts'

/** Looks up a noun by its name. */
export interface NounLookup {
  readonly all?: readonly Noun[]
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
  $source: '$source',
}

const MOST_SEGMENTS = 3
/** Kinds of values that have no parts. */
const SINGLE: ReadonlySet<Field['kind']> = new Set(['string', 'number', 'boolean', 'date', 'datetime', 'enum'])
const DEEPEST = 64

/**
 * Resolves `organization.industry` against a noun: relations in both directions, then a field, then steps into its
 * JSON. A path through a relation to several types is a fault here.
 */
export function resolvePath(text: string, noun: Noun, nouns: NounLookup): Path | PathFault {
  const paths = resolvePaths(text, noun, nouns)
  if ('fault' in paths) return paths
  const [path, ...others] = paths
  if (others.length === 0) return path!
  return { fault: `${quoted(text)} leads to several types. Use the relation itself, or a filter.` }
}

/** The same with one path for each type that the relations in it lead to and that has the field. */
export function resolvePaths(text: string, noun: Noun, nouns: NounLookup): readonly Path[] | PathFault {
  const segments = text.split('.')
  if (segments.length > DEEPEST) return { fault: `${quoted(text)} goes deeper than ${DEEPEST} levels.` }
  return pathsFrom(text, segments, noun, [], nouns)
}

function pathsFrom(
  text: string,
  [segment = '', ...rest]: readonly string[],
  at: Noun,
  hops: readonly Hop[],
  nouns: NounLookup,
): readonly Path[] | PathFault {
  const field = ownField(at, segment)
  // What is inside a single value would be a segment, too. Inside JSON there are more levels.
  const inside = field && SINGLE.has(field.kind) ? rest.length : 0
  if (hops.length + inside >= MOST_SEGMENTS)
    return { fault: `${quoted(text)} is too long: at most ${MOST_SEGMENTS} segments, relations and the field.` }
  if (field?.kind === 'secret') return { fault: `${at.name} has no field ${quoted(segment)} that can be queried.` }
  if (!isRelation(field) || (field.kind === 'forward' && rest.length === 0)) {
    const path = ending(text, at, hops, segment, rest)
    return 'fault' in path ? path : [path]
  }
  const targets = targetsWith(field, rest[0], nouns)
  if (targets.length === 0)
    return field.target === ANY_TYPE
      ? { fault: `${quoted(text)}: no type has a field ${quoted(rest[0] ?? '')}.` }
      : { fault: `${quoted(text)} points to ${field.target}, which is not a type of this tenant.` }
  const found = targets.map((target): readonly Path[] | PathFault => {
    const along = [...hops, hopOf(at, field, target.name)]
    return rest.length === 0
      ? [{ text, hops: along, field: '$id', into: [] }]
      : pathsFrom(text, rest, target, along, nouns)
  })
  const paths = found.flatMap((one) => ('fault' in one ? [] : one))
  return paths.length > 0 ? paths : found[0]!
}

/** The types that a relation points to: of several, those that have the next segment of the path, if any has. */
function targetsWith(field: ForwardField | BackField, next: string | undefined, nouns: NounLookup): readonly Noun[] {
  const targets = targetNouns(field, nouns)
  if (targets.length <= 1 || next === undefined) return targets
  const able = targets.filter((target) => {
    const field = ownField(target, next)
    return field ? field.kind !== 'secret' : Object.hasOwn(META_FIELDS, next)
  })
  return able.length > 0 || field.target === ANY_TYPE ? able : targets
}

/** The types that a relation may point to; for `-> *` all that are stored as entities. */
export function targetNouns(field: ForwardField | BackField, nouns: NounLookup): readonly Noun[] {
  if (field.target === ANY_TYPE) return (nouns.all ?? []).filter(({ storage }) => storage === 'entity')
  const names = field.kind === 'forward' && field.targets ? field.targets : [field.target]
  return names.flatMap((name) => nouns.get(name) ?? [])
}

/** The declaration of the field that a path ends at; undefined for other meta-fields, undeclared ones and inside JSON. */
export function declaredField(path: Path, noun: Noun, nouns: NounLookup): Field | undefined {
  const last = path.hops.at(-1)
  const owner = last ? nouns.get(last.target) : noun
  if (!owner || path.into.length > 0) return undefined
  return path.field === SOURCE.name && owner.storage === 'entity' ? SOURCE : ownField(owner, path.field)
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
export function hopOf(from: Noun, field: ForwardField | BackField, target = field.target): Hop {
  const { name, kind, list } = field
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
    return { fault: `${noun.name} has no field ${quoted(name)}${didYouMean(name, Object.keys(noun.fields)) || '.'}` }
  }
  const part = declared && ownField(noun, name)?.kind === 'file' ? into.find((one) => !/^\d+$/.test(one)) : undefined
  if (part !== undefined && (!isFilePart(part) || into.at(-1) !== part))
    return { fault: `${quoted(text)} goes into a file, which has ${listed(FILE_PARTS, 'and')}.` }
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
