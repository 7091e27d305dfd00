import {
  ANY_TYPE,
  type BackField,
  type ForwardField,
  type Hop,
  hopOf,
  type JsonObject,
  type Noun,
  type NounLookup,
  Problem,
  quoted,
  relationNames,
  relationOf,
  targetNouns,
} from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'
import { entityView } from '../../view/entity.ts'
import { presence, scopeBehind } from '../plan/compile.ts'
import { eachOf, type Fragment, fragment, listOf, plain } from '../plan/fragment.ts'
import { fieldIndexAt, fieldIndexNumber, jsonPath, type Scope } from '../plan/scope.ts'
import { toStored } from '../plan/select.ts'
import { columns, isLogged, sourceOf } from '../plan/source.ts'
import { type Moment, queryRows, type ReadContext } from '../reader.ts'
import { narrowingTest } from './memory.ts'

const DEEPEST = 3
/** The most entities embedded for one relation to many. */
const MOST_EMBEDDED = 100
/** Relations of one include. */
const MOST_NAMES = 100

/** Parses `organization,deals.contact`, or a list of such names. Every name must be a relation of its type. */
export function parseInclude(input: unknown, noun: Noun, nouns: NounLookup): string[] {
  if (input === undefined || input === null || input === '') return []
  const names = typeof input === 'string' ? input.split(',').map((name) => name.trim()) : input
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    throw new Problem('invalid_include', 'include must be names of relations, such as organization,deals.', {
      field: 'include',
    })
  }
  if (names.length > MOST_NAMES)
    throw new Problem('invalid_include', `include may name at most ${MOST_NAMES} relations.`, {
      field: 'include',
      limit: MOST_NAMES,
    })
  for (const name of names) typesAlong(name, noun, nouns)
  return names
}

/**
 * The types that an include reaches, so that each can be checked against the key. Those of a relation to several types
 * are not among them: what the key may not read stays an id.
 */
export function includedTypes(include: readonly string[], noun: Noun, nouns: NounLookup): Set<string> {
  return new Set(include.flatMap((name) => typesAlong(name, noun, nouns)))
}

/** Embeds relations into rows: one statement per relation and level, for all rows together. */
export function embed(
  reader: ReadContext,
  type: string,
  rows: readonly Stored[],
  include: readonly string[],
  moment: Moment,
): readonly Stored[] {
  if (include.length === 0 || rows.length === 0) return rows
  const noun = reader.nouns.get(type)!
  const extras: { [name: string]: JsonObject | JsonObject[] | null }[] = rows.map(() => ({}))
  const sizes = rows.map(() => 0)
  for (const [name, deeper] of branches(include)) {
    const relation = relationOf(noun, name)
    // Of several types, not all have the relation.
    if (!relation) continue
    const hops = hopsTo(reader, noun, relation, rows)
    const parts = hops.map((hop) =>
      hop.kind === 'forward' ? ahead(reader, hop, rows, moment) : back(reader, hop, rows, moment),
    )
    const found = parts.length === 1 ? parts[0]! : rows.map((_, index) => newest(parts.flatMap((part) => part[index]!)))
    const all = [...new Map(found.flat().map((row) => [row.ordinal, row])).values()]
    // An entity that is embedded many times is one object, and counts as often as it will be written.
    const views = new Map(
      hops
        .flatMap(({ target }) =>
          embed(
            reader,
            target,
            all.filter((row) => row.type === target),
            deeper,
            moment,
          ),
        )
        .map((row) => [row.ordinal, { view: entityView(row, reader.context), size: sizeOf(row) }]),
    )
    for (const [index, related] of found.entries()) {
      const shown = related.map(({ ordinal }) => views.get(ordinal)!)
      sizes[index]! += shown.reduce((sum, { size }) => sum + size, 0)
      const embedded = shown.map(({ view }) => view)
      if (embedded.length === 0 && isHidden(reader, relation, rows[index]!)) continue
      extras[index]![name] = relation.list ? embedded : (embedded[0] ?? null)
    }
  }
  return rows.map((row, index) => ({
    ...row,
    extra: { ...row.extra, ...extras[index] },
    size: sizeOf(row) + sizes[index]!,
  }))
}

/** The length of the meta-fields of an entity as JSON, about. */
const META_SIZE = 320

/** About how many bytes an entity has as JSON, with what is embedded in it. */
export function sizeOf({ data, size }: Stored): number {
  return size ?? data.length + META_SIZE
}

/** `['a', 'a.b', 'c']` → `a` with `['b']`, `c` with nothing. */
function branches(include: readonly string[]): Map<string, string[]> {
  const tree = new Map<string, string[]>()
  for (const name of include) {
    const [first, ...rest] = name.split('.')
    const deeper = tree.get(first!) ?? []
    tree.set(first!, rest.length > 0 ? [...deeper, rest.join('.')] : deeper)
  }
  return tree
}

/** The steps of a relation: one for each type that it may point to and that the reader may read. */
function hopsTo(
  reader: ReadContext,
  noun: Noun,
  relation: ForwardField | BackField,
  rows: readonly Stored[],
): readonly Hop[] {
  if (!isToSeveral(relation)) return [hopOf(noun, relation)]
  const ids = rows.flatMap((row) => idsIn(row, relation.name))
  return targetNouns(relation, reader.nouns)
    .filter(({ name, prefix }) => !reader.hidden?.(name) && ids.some((id) => id.startsWith(`${prefix}_`)))
    .map(({ name }) => hopOf(noun, relation, name))
}

/** Whether a row points to an entity of a type that the reader may not read. */
function isHidden(reader: ReadContext, relation: ForwardField | BackField, row: Stored): boolean {
  if (!isToSeveral(relation)) return false
  const ids = idsIn(row, relation.name)
  return targetNouns(relation, reader.nouns).some(
    ({ name, prefix }) => reader.hidden?.(name) && ids.some((id) => id.startsWith(`${prefix}_`)),
  )
}

function isToSeveral(relation: ForwardField | BackField): relation is ForwardField {
  return relation.kind === 'forward' && (relation.targets !== undefined || relation.target === ANY_TYPE)
}

/** The types that a nested include reaches by relations to one type. Every name must be a relation. */
function typesAlong(name: string, noun: Noun, nouns: NounLookup): string[] {
  const segments = name.split('.')
  if (segments.length > DEEPEST) {
    throw new Problem('invalid_include', `${quoted(name)} is nested too deeply: at most ${DEEPEST} levels.`, {
      field: quoted(name),
      limit: DEEPEST,
    })
  }
  let at: readonly Noun[] = [noun]
  return segments.flatMap((segment) => {
    const relations = at.flatMap((one) => relationOf(one, segment) ?? [])
    const targets = relations.flatMap((relation) => targetNouns(relation, nouns))
    if (targets.length === 0) throw notARelation(at[0]!, name, segment)
    at = targets
    return relations.filter((relation) => !isToSeveral(relation)).map(({ target }) => target)
  })
}

function notARelation(noun: Noun, name: string, segment: string): Problem {
  const supported = relationNames(noun)
  const known = supported.length > 0 ? `Its relations are ${supported.join(', ')}.` : 'It has none.'
  return new Problem('invalid_include', `${noun.name} has no relation ${quoted(segment)}. ${known}`, {
    type: noun.name,
    field: quoted(name),
    supported,
  })
}

/** The entities that each row's own field names, newest first. */
function ahead(reader: ReadContext, hop: Hop, rows: readonly Stored[], moment: Moment): Stored[][] {
  const idsOfRows = rows.map((row) => idsIn(row, hop.field))
  const ids = [...new Set(idsOfRows.flat())]
  if (ids.length === 0) return rows.map(() => [])
  const { source, there, shown } = behind(reader, hop, moment)
  const wanted = fragment`SELECT ${columns(source)} FROM ${eachOf(ids, 'i')} CROSS JOIN ${source.from} WHERE ${source.id} = i.value AND ${there}`
  const read = queryRows(reader, wanted).map((row) => toStored(reader, hop.target, row))
  const found = new Map((shown ? read.filter(shown) : read).map((row) => [row.id, row]))
  return idsOfRows.map((wanted) => newest(wanted.flatMap((id) => found.get(id) ?? [])))
}

/** The entities whose field names each row, newest first. */
function back(reader: ReadContext, hop: Hop, rows: readonly Stored[], moment: Moment): Stored[][] {
  const scope = behind(reader, hop, moment)
  const number = fieldIndexNumber(reader, hop.target, hop.via!)
  const wanted = number === null ? backByData(scope, hop, rows) : backByIndex(scope, number, rows)
  const found = Map.groupBy(queryRows(reader, wanted), (row) => row[7] as string)
  return rows.map(({ id }) => {
    const related = (found.get(id) ?? []).map((row) => toStored(reader, hop.target, row))
    return newest(scope.shown ? related.filter(scope.shown) : related)
  })
}

function backByIndex(scope: Behind, number: number, rows: readonly Stored[]): Fragment {
  const { source, there, narrowing, moment } = scope
  const f = plain('f')
  // The cap counts entities that are shown, so a narrowing has to look at them before it.
  const [from, shown] = narrowing
    ? [fragment` CROSS JOIN ${narrowing.from}`, fragment` AND ${narrowing.where}`]
    : [plain(''), plain('')]
  return fragment`SELECT ${columns(source)}, parent.value
  FROM json_each(${JSON.stringify(rows.map((row) => row.id))}) parent CROSS JOIN ${source.from}
  WHERE ${there} AND ${source.n} IN (
    SELECT f.n FROM field_index f${from}
    WHERE f.field = ${number} AND f.value = parent.value AND ${fieldIndexAt(moment, f)}${shown}
    ORDER BY f.n DESC
    LIMIT +${mostRead(scope)})`
}

function backByData(scope: Behind, hop: Hop, rows: readonly Stored[]): Fragment {
  const { source, there } = scope
  const ids = listOf(rows.map((row) => row.id))
  const data = source.dataFor(hop.via!)
  return fragment`SELECT n, id, version, created_at, created_by, updated_at, data, parent
  FROM (
    SELECT ${source.n} AS n, ${source.id} AS id, ${source.version} AS version, ${source.createdAt} AS created_at,
      ${source.creator} AS created_by, ${source.updatedAt} AS updated_at, ${source.data} AS data, v.value AS parent,
      row_number() OVER (PARTITION BY v.value ORDER BY ${source.n} DESC) AS place
    FROM ${source.from}, json_each(${data}, ${jsonPath([hop.via!])}) v
    WHERE ${there} AND v.value IN ${ids})
  WHERE place <= ${mostRead(scope)}`
}

/** How many entities are read for one relation to many: more than are shown when memory has to choose among them. */
function mostRead({ shown }: Behind): number {
  return shown ? 100 * MOST_EMBEDDED : MOST_EMBEDDED
}

interface Behind extends Scope {
  readonly there: Fragment
  /** The rows of the type that are shown, under their own alias, when not all of them are. */
  readonly narrowing: { readonly from: Fragment; readonly where: Fragment } | null
  /** What only memory can tell of whether a row is shown. */
  readonly shown: ((row: Stored) => boolean) | null
}

function behind(reader: ReadContext, hop: Hop, moment: Moment): Behind {
  const here: Scope = {
    reader,
    moment,
    type: hop.from,
    source: sourceOf(reader, hop.from, moment, 'e'),
    narrowed: true,
  }
  const scope = scopeBehind(here, hop, 't')
  const there = presence(scope)
  if (there === null) return { ...scope, there: scope.source.where, narrowing: null, shown: narrowingTest(scope) }
  const inner = scopeBehind(here, hop, 'u')
  const narrowed = (reader.narrow?.(hop.target) ?? null) !== null || (isLogged(reader, hop.target) && !!reader.narrow)
  const narrowing = narrowed
    ? { from: inner.source.from, where: fragment`${inner.source.n} = f.n AND ${presence(inner)!}` }
    : null
  return { ...scope, there, narrowing, shown: null }
}

function idsIn(row: Stored, field: string): string[] {
  const value = (JSON.parse(row.data) as JsonObject)[field]
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string')
}

function newest(rows: readonly Stored[]): Stored[] {
  return [...rows].sort((a, b) => b.ordinal - a.ordinal).slice(0, MOST_EMBEDDED)
}
