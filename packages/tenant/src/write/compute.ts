import {
  type ComputedField,
  computedFields,
  evaluate,
  type Hop,
  type Json,
  type JsonObject,
  type Noun,
  type Nouns,
  type Path,
  pathsOf,
  resolvePath,
  sameJson,
} from '@tildebase/nouns'
import { type AuthoredParts, authoredParts } from '../authorship/parts.ts'
import { act } from '../authorship/stored.ts'
import { overBudget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import { countReferrers, type RelatedRow, referrers, referringRows, referringValues, rowsOf } from '../store/related.ts'
import type { Write } from './write.ts'

/** One change may lead to so many others at most: it is one transaction, and holds up all others. */
const MOST_DEPENDANTS = 10_000
/** Related entities that one computed field reads at most. */
const MOST_READ = 100_000

/** The state with its computed fields. Given `before`, only those that the change touches are worked out again. */
export function withComputed(
  write: Write,
  noun: Noun,
  id: string,
  state: JsonObject,
  before: JsonObject | null = null,
): JsonObject {
  const computations = computePlan(write.engine).computations.get(noun.name)
  if (!computations) return state
  const next: Record<string, Json> = { ...state }
  for (const { field, paths, reads } of computations) {
    if (before && !differs(before, next, reads)) continue
    const value = evaluate(field.computed, (text) => valuesAt(write, id, next, paths.get(text)))
    if (value === null) delete next[field.name]
    else next[field.name] = value
  }
  return next
}

/** The entities with computed fields that a change of this one touches; null is not a state (not yet, or deleted). */
export function dependantsOf(
  write: Write,
  noun: Noun,
  id: string,
  before: JsonObject | null,
  after: JsonObject | null,
): ReadonlyMap<string, ReadonlySet<string>> | null {
  const dependants = computePlan(write.engine).dependants.get(noun.name)
  if (!dependants) return null
  const touched = new Map<string, Set<string>>()
  let count = 0
  for (const dependant of dependants) {
    if (before && after && !differs(before, after, dependant.reads)) continue
    const ids = touched.get(dependant.type) ?? new Set()
    for (const one of startsOf(write, dependant, id, [before, after])) ids.add(one)
    touched.set(dependant.type, ids)
    count += ids.size
  }
  write.context.budget.spendRows(count)
  return count === 0 ? null : touched
}

/** Whether one of these fields has another value. */
function differs(before: JsonObject, after: JsonObject, fields: ReadonlySet<string>): boolean {
  for (const field of fields) if (!sameJson(before[field] ?? null, after[field] ?? null)) return true
  return false
}

/** Follows an inverse relation from an entity to its sources. */
function startsOf(
  write: Write,
  { hops }: Dependant,
  id: string,
  states: readonly (JsonObject | null)[],
): readonly string[] {
  let ids: readonly string[] = [id]
  let rows: readonly (JsonObject | null)[] = states
  for (const hop of hops.toReversed()) {
    ids = hop.kind === 'back' ? idsIn(rows, hop.via!) : referring(write.engine, hop.from, hop.field, ids)
    if (ids.length > MOST_DEPENDANTS) throw tooMany(MOST_DEPENDANTS)
    const isLast = hop === hops[0]
    rows = isLast ? [] : rowsOf(write.sql, hop.from, ids).map(({ data }) => data)
  }
  return ids
}

function referring(engine: Engine, type: string, field: string, ids: readonly string[]): readonly string[] {
  const number = engine.fieldNumber(type, field)
  return number === null ? [] : referrers(engine.sql, number, ids, MOST_DEPENDANTS + 1)
}

/** The values at a path of a computed field, without null. */
function valuesAt(write: Write, id: string, state: JsonObject, path: Path | undefined): readonly Json[] {
  if (!path) return []
  const values = path.hops.length === 0 ? [state[path.field] ?? null] : relatedValues(write, id, state, path)
  return path.into.reduce((found, step) => within(found, step), flat(values))
}

function relatedValues(write: Write, id: string, state: JsonObject, { hops, field }: Path): readonly Json[] {
  let rows: readonly RelatedRow[] = [{ id, data: state }]
  for (const hop of hops.slice(0, -1)) rows = counted(write, followed(write, hop, rows))
  const last = hops.at(-1)!
  if (last.kind === 'forward') {
    const found = counted(write, followed(write, last, rows))
    return field === '$id' ? found.map((row) => row.id) : found.map(({ data }) => data[field] ?? null)
  }
  const number = write.engine.fieldNumber(last.target, last.via!)
  const ids = rows.map((row) => row.id)
  if (number === null || ids.length === 0) return []
  if (field === '$id') return new Array(countReferrers(write.sql, number, ids)).fill(true)
  return counted(write, referringValues(write.sql, number, ids, `$."${field}"`, MOST_READ + 1))
}

/** The entities that a relation leads to from these. */
function followed(write: Write, hop: Hop, rows: readonly RelatedRow[]): readonly RelatedRow[] {
  if (hop.kind === 'forward') {
    const ids = idsIn(
      rows.map(({ data }) => data),
      hop.field,
    )
    return ids.length === 0 ? [] : rowsOf(write.sql, hop.target, ids)
  }
  const number = write.engine.fieldNumber(hop.target, hop.via!)
  const ids = rows.map(({ id }) => id)
  return number === null || ids.length === 0 ? [] : referringRows(write.sql, number, ids, MOST_READ + 1)
}

function idsIn(states: readonly (JsonObject | null)[], field: string): readonly string[] {
  const ids = states.flatMap((state) => state?.[field] ?? []).filter((value) => typeof value === 'string')
  return [...new Set(ids)]
}

function counted<T>(write: Write, rows: readonly T[]): readonly T[] {
  if (rows.length > MOST_READ) throw tooMany(MOST_READ)
  write.context.budget.spendRows(rows.length)
  return rows
}

/** Lists on the way represent each of their elements. */
function flat(values: readonly Json[]): readonly Json[] {
  return values.flatMap((value) => (Array.isArray(value) ? (value as Json[]) : value)).filter((value) => value !== null)
}

function within(values: readonly Json[], step: string): readonly Json[] {
  const inner = values.map((value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? ((value as JsonObject)[step] ?? null) : null,
  )
  return flat(inner)
}

function tooMany(most: number) {
  return overBudget('rows', `${most} related entities of computed fields`)
}

/** A computed field with the paths that it reads, resolved. */
interface Computation {
  readonly field: ComputedField
  readonly paths: ReadonlyMap<string, Path>
  /** The entity's own fields that decide its value, those that relations start from included. */
  readonly reads: ReadonlySet<string>
}

/** Entities of another type that depend on entities of this one. */
interface Dependant {
  /** The type with the computed field. */
  readonly type: string
  /** The way from it to here. */
  readonly hops: readonly Hop[]
  /** The fields here that matter: the value that is read, and those that the way leads through. */
  readonly reads: ReadonlySet<string>
}

/** What is computed in a tenant, and from what. */
interface ComputePlan {
  /** Per type, its computed fields, each after those that it reads. */
  readonly computations: ReadonlyMap<string, readonly Computation[]>
  /** Per type, what depends on its entities. */
  readonly dependants: ReadonlyMap<string, readonly Dependant[]>
}

/** The plan for the types of a tenant, made once for each set of types and authors. A field without an author is not computed. */
function computePlan(engine: Engine): ComputePlan {
  const { nouns } = engine
  const parts = authoredParts(engine)
  const known = plans.get(parts)
  if (known) return known
  const computations = new Map<string, readonly Computation[]>()
  const dependants = new Map<string, Dependant[]>()
  for (const noun of nouns.all) {
    const found = computedFields(noun).flatMap(({ name }) => {
      const stored = parts.computed.get(`${noun.name}.${name}`)
      // Its author may read every row of every type that it reads: it needs no narrowing.
      return stored ? [computationOf(act(stored).declaration, noun, nouns)] : []
    })
    if (found.length > 0) computations.set(noun.name, found)
    for (const { paths } of found) for (const path of paths.values()) note(noun, path, dependants)
  }
  const plan = { computations, dependants }
  plans.set(parts, plan)
  return plan
}

const plans = new WeakMap<AuthoredParts, ComputePlan>()

function computationOf(field: ComputedField, noun: Noun, nouns: Nouns): Computation {
  const { single, many } = pathsOf(field.computed)
  const paths = new Map<string, Path>()
  for (const text of [...single, ...many]) {
    const path = resolvePath(text, noun, nouns)
    if (!('fault' in path)) paths.set(text, path)
  }
  const reads = [...paths.values()].flatMap(({ hops: [hop], field: own }) => {
    if (!hop) return [own]
    return hop.kind === 'forward' ? [hop.field] : []
  })
  return { field, paths, reads: new Set(reads) }
}

/** Notes for every type along a path that entities of `noun` depend on it. */
function note(noun: Noun, path: Path, dependants: Map<string, Dependant[]>): void {
  for (const [index, hop] of path.hops.entries()) {
    const next = path.hops[index + 1]
    const reads = [
      ...(hop.kind === 'back' ? [hop.via!] : []),
      ...(next?.kind === 'forward' ? [next.field] : []),
      ...(next === undefined ? [path.field] : []),
    ]
    const known = dependants.get(hop.target) ?? []
    known.push({ type: noun.name, hops: path.hops.slice(0, index + 1), reads: new Set(reads) })
    dependants.set(hop.target, known)
  }
}
