import {
  EVERYTHING,
  type Filter,
  type Hop,
  isoOf,
  type Json,
  type JsonObject,
  type Noun,
  type Path,
  Problem,
  quoted,
  resolvePath,
} from '@tildebase/nouns'
import type { SqlRow } from '../../ports.ts'
import { presence, scopeBehind } from '../plan/compile.ts'
import { every, type Fragment, fragment, join, plain } from '../plan/fragment.ts'
import { metaColumn } from '../plan/meta.ts'
import { momentOf } from '../plan/moment.ts'
import { plan as planOf } from '../plan/plan.ts'
import { jsonPath, type Scope } from '../plan/scope.ts'
import { among, countRows, ticking } from '../plan/select.ts'
import { queryRows, type ReadContext, within } from '../reader.ts'
import { indexTextFor } from '../words/text.ts'
import { chosen } from './memory.ts'
import { isPeriod, isTimeField, type Period, periodOf } from './period.ts'

/** What is to be worked out over the entities of a type. */
export interface Aggregation {
  readonly filter?: Filter
  readonly asOf?: number | null
  /** Paths that entities are grouped by, also through relations to one. */
  readonly group?: readonly string[]
  readonly sum?: readonly string[]
  readonly avg?: readonly string[]
  readonly min?: readonly string[]
  readonly max?: readonly string[]
}

/** One group: its values by path, `count`, and what was measured: `{stage: 'Lead', count: 3, sum: {value: 500}}`. */
export type Group = JsonObject

const MEASURES = ['sum', 'avg', 'min', 'max'] as const
const MOST_PATHS = 10
export const MOST_GROUPS = 1_000

/** The groups, largest first and at most a thousand, and how many entities there are in all. */
export interface Groups {
  readonly results: readonly Group[]
  readonly total: number
}

/** Groups the entities of a type and measures each group. */
export function aggregate(reader: ReadContext, noun: Noun, asked: Aggregation): Groups {
  indexTextFor(reader, asked.filter)
  const moment = momentOf(reader, asked.asOf)
  return within(reader, () => {
    const plan = planOf(reader, noun.name, asked.filter ?? EVERYTHING, moment)
    const only = chosen(plan)
    const rows = { ...countRows(plan, true), only: among(plan.scope, only) }
    const where = every([...rows.where, ...rows.only, ...ticking(plan)])
    const { groups, measures } = shapeOf(reader, noun, asked)
    const keys = groups.map(({ path, period }) => groupValue(plan.scope, path, period))
    const sums = measures.map((measure) => measured(plan.scope, measure))
    const grouped = fragment`SELECT ${join([plain('count(*)'), ...keys, ...sums, plain('sum(count(*)) OVER ()')], ', ')}
  FROM ${rows.from}
  WHERE ${where}
  ${plain(keys.length > 0 ? `GROUP BY ${keys.map((_, index) => index + 2).join(', ')}` : '')}
  ORDER BY 1 DESC
  LIMIT +${MOST_GROUPS}`
    const found = queryRows(reader, grouped)
    return { results: found.map((row) => toGroup(row, groups, measures)), total: found[0]?.at(-1) ?? 0 }
  })
}

/** What entities are grouped by, and what is measured. */
export interface Shape {
  readonly groups: readonly GroupKey[]
  readonly measures: readonly Measure[]
}

export function shapeOf(reader: ReadContext, noun: Noun, asked: Aggregation): Shape {
  const measures = MEASURES.flatMap((name) => pathsOf(reader, noun, name, asked[name]).map((path) => ({ name, path })))
  return { groups: groupsOf(reader, noun, asked.group), measures }
}

export interface Measure {
  readonly name: (typeof MEASURES)[number]
  readonly path: Path
}

/** What entities are grouped by: a value, or the period that a time lies in. */
export interface GroupKey {
  readonly text: string
  readonly path: Path
  readonly period: Period | null
}

/** A group from its count, its values and what was measured. */
export function toGroup(row: Readonly<SqlRow>, groups: readonly GroupKey[], measures: readonly Measure[]): Group {
  const [count, ...rest] = row
  const by = Object.fromEntries(
    groups.map(({ text, path, period }, index) => {
      const value = JSON.parse(rest[index])
      return [text, period === null ? shown(path, value) : value]
    }),
  )
  const measured: { [name: string]: JsonObject } = {}
  for (const [index, { name, path }] of measures.entries()) {
    const value = rest[groups.length + index]
    const isAdded = name === 'sum' || name === 'avg'
    measured[name] = { ...measured[name], [path.text]: shown(path, isAdded ? rounded(value) : value) }
  }
  return { ...by, count, ...measured }
}

/** A sum or an average to 15 digits, as computed fields have it: it does not depend on the order of adding. */
function rounded(value: number | null): number | null {
  return value === null || Number.isInteger(value) ? value : Number(value.toPrecision(15))
}

function shown(path: Path, value: Json): Json {
  const time = path.field === '$createdAt' || path.field === '$updatedAt'
  return time && typeof value === 'number' ? isoOf(value) : value
}

function pathsOf(reader: ReadContext, noun: Noun, name: string, texts: readonly string[] = []): Path[] {
  if (texts.length > MOST_PATHS)
    throw new Problem('invalid_group', `${name} allows at most ${MOST_PATHS} fields.`, { type: noun.name, field: name })
  return texts.map((text) => {
    const path = resolvePath(text, noun, reader.nouns)
    const fault = 'fault' in path ? path.fault : unsuited(path, name)
    if (fault !== null || 'fault' in path)
      throw new Problem('invalid_group', fault ?? '', { type: noun.name, field: quoted(text) })
    return path
  })
}

/** `stage`, or `createdAt:month`: a name that is declared with the colon is that field. */
function groupsOf(reader: ReadContext, noun: Noun, texts: readonly string[] = []): GroupKey[] {
  const asked = texts.map((text) => ({ text, ...splitPeriod(text, reader, noun) }))
  const paths = pathsOf(
    reader,
    noun,
    'group',
    asked.map(({ name }) => name),
  )
  return asked.map(({ text, period }, index) => ({ text, path: paths[index]!, period }))
}

function splitPeriod(text: string, reader: ReadContext, noun: Noun): { name: string; period: Period | null } {
  const [, name = '', word = ''] = /^(.+):(\w+)$/.exec(text) ?? []
  const path = name === '' || Object.hasOwn(noun.fields, text) ? null : resolvePath(name, noun, reader.nouns)
  if (path === null || 'fault' in path) return { name: text, period: null }
  const isTime = isTimeField(path, noun, reader.nouns)
  if (isTime && isPeriod(word)) return { name, period: word }
  if (!isTime && !isPeriod(word)) return { name: text, period: null }
  const why = isTime ? `${quoted(word)} is not a period` : `${quoted(name)} is not a date or datetime`
  throw new Problem('invalid_group', `${why}. Group a time by hour, day, week, month, quarter or year.`, {
    type: noun.name,
    field: quoted(text),
  })
}

function unsuited(path: Path, name: string): string | null {
  if (path.hops.some((hop) => hop.kind === 'back' || hop.list))
    return `${quoted(path.text)} points to many entities; ${name} allows only fields and relations to one.`
  if (jsonPath([path.field, ...path.into]) === null) return `${quoted(path.text)} has quotes in its name.`
  return null
}

/** The value of a group as JSON text, so that `true` and 1 are two groups. */
export function groupValue(scope: Scope, path: Path, period: Period | null): Fragment {
  return through(
    scope,
    path,
    0,
    ({ source, type }) => {
      if (period !== null) return fragment`json_quote(${periodOf(source, type, path, period)})`
      if (path.field.startsWith('$')) return fragment`json_quote(${metaColumn(source, type, path.field)})`
      return fragment`coalesce(${source.dataFor(path.field)} -> ${jsonPath([path.field, ...path.into])}, 'null')`
    },
    plain(`'null'`),
  )
}

function measured(scope: Scope, { name, path }: Measure): Fragment {
  const value = measuredValue(scope, name, path)
  return name === 'sum' ? fragment`total(${value})` : fragment`${plain(name)}(${value})`
}

/** What is measured of one entity. Sums and averages take numbers alone. */
export function measuredValue(scope: Scope, name: Measure['name'], path: Path): Fragment {
  return through(
    scope,
    path,
    0,
    ({ source, type }) => {
      if (path.field.startsWith('$')) return metaColumn(source, type, path.field)
      const way = jsonPath([path.field, ...path.into])
      const data = source.dataFor(path.field)
      const number = fragment`json_extract(${data}, ${way}) + 0.0`
      const text =
        name === 'sum' || name === 'avg' ? plain('') : fragment` WHEN 'text' THEN json_extract(${data}, ${way})`
      return fragment`CASE json_type(${data}, ${way}) WHEN 'integer' THEN ${number} WHEN 'real' THEN ${number}${text} END`
    },
    plain('NULL'),
  )
}

/** A value behind relations to one, or what represents it when they lead nowhere. */
function through(
  scope: Scope,
  path: Path,
  step: number,
  read: (scope: Scope) => Fragment,
  missing: Fragment,
): Fragment {
  const hop: Hop | undefined = path.hops[step]
  if (!hop) return read(scope)
  const behind = scopeBehind(scope, hop, `g${step + 1}`)
  const there = presence(behind)
  if (there === null) {
    throw new Problem(
      'invalid_group',
      `${quoted(path.text)} points to ${hop.target}, on which this key has a row filter.`,
      { field: quoted(path.text) },
    )
  }
  const inner = through(behind, path, step + 1, read, missing)
  const id = fragment`json_extract(${scope.source.dataFor(hop.field)}, ${jsonPath([hop.field])})`
  return fragment`coalesce((SELECT ${inner} FROM ${behind.source.from} WHERE ${behind.source.id} = ${id} AND ${there}), ${missing})`
}
