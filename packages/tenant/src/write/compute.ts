import { evaluate, type Hop, type Json, type JsonObject, type Noun, type Path, sameJson } from '@tildebase/nouns'
import { overBudget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import { countReferrers, type RelatedRow, referrers, referringRows, referringValues, rowsOf } from '../store/related.ts'
import { computePlan, type Dependant } from './compute-plan.ts'
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
