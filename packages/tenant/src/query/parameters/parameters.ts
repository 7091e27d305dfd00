import {
  allOf,
  type Filter,
  isPlainObject,
  type Lens,
  type Noun,
  Problem,
  parseAsOf,
  parseSort,
  resolvePath,
  touches,
} from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { isOwnType, recordedSeqAt, seqAt } from '../../store/log/log.ts'
import type { Aggregation } from '../answer/aggregate.ts'
import type { Query } from '../answer/find.ts'
import { includedTypes, parseInclude } from '../answer/include.ts'
import { filterOf, reachableNouns } from './filter.ts'
import { limitOf, MOST_RESULTS, offsetOf } from './limits.ts'

const NONE: readonly string[] = []

/** The query that a filter and options in the form of code describe: `{sort: {value: -1}, limit: 5, include: ['deals']}`. */
export function parseQuery(engine: Engine, grant: Grant, noun: Noun, filter: unknown, options: unknown): Query {
  const given = options ?? {}
  if (!isPlainObject(given))
    throw new Problem('invalid_parameter', 'The options must be an object, such as {limit: 10}.', { type: noun.name })
  const parsed = askedFilter(engine, grant, noun, filter)
  return {
    type: noun.name,
    filter: parsed,
    sort: given.sort === undefined ? [] : parseSort(given.sort, noun, engine.nouns),
    limit: Math.min(
      given.limit === undefined ? MOST_RESULTS : limitOf(given.limit),
      grant.limits?.rowsPerAnswer ?? MOST_RESULTS,
    ),
    offset: given.offset === undefined ? 0 : offsetOf(given.offset),
    cursor: typeof given.cursor === 'string' ? given.cursor : null,
    asOf: given.asOf === undefined ? null : asOfSeq(engine, given.asOf, noun.name),
    include: includeOf(engine, grant, noun, given.include),
    total: false,
  }
}

/** What code asks to be worked out: `{group: ['stage'], sum: ['value'], filter, asOf}`. */
export function aggregationOf(engine: Engine, grant: Grant, noun: Noun, input: unknown): Aggregation {
  const { filter, asOf, ...rest } = isPlainObject(input) ? input : {}
  const unknown = Object.keys(rest).find((name) => !MEASURES.includes(name))
  if (!isPlainObject(input) || unknown !== undefined)
    throw new Problem(
      'invalid_parameter',
      'The argument must be {group, sum, avg, min, max, filter, asOf}; the first five are lists.',
      {
        type: noun.name,
        ...(unknown !== undefined && { field: unknown }),
      },
    )
  const paths = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, [value].flat().map(String)]))
  demandPaths(engine, grant, noun, Object.values(paths).flat())
  return {
    ...paths,
    filter: askedFilter(engine, grant, noun, filter),
    asOf: asOf === undefined ? null : asOfSeq(engine, asOf, noun.name),
  }
}

const MEASURES: readonly string[] = ['group', 'sum', 'avg', 'min', 'max']

/** Refuses paths of groups and measures that lead to a type which the grant may not read. */
export function demandPaths(engine: Engine, grant: Grant, noun: Noun, paths: readonly string[]): void {
  for (const name of paths) {
    // A group may end with a period: `contact.$createdAt:hour`.
    const path = resolvePath(name.split(':')[0]!, noun, engine.nouns)
    if ('hops' in path) for (const { target } of path.hops) demand(grant, 'read', engine.noun(target))
  }
}

/** A filter that a sender asks with, if it may read every type that the filter reaches. */
export function askedFilter(engine: Engine, grant: Grant, noun: Noun, json: unknown): Filter {
  return demandReachable(engine, grant, filterOf(engine, noun, json, reachableNouns(engine, grant)))
}

/** The filter, if its sender may read every type it reaches. */
export function demandReachable(engine: Engine, grant: Grant, filter: Filter): Filter {
  for (const type of touches(filter)) demand(grant, 'read', engine.noun(type))
  return filter
}

/** The relations to embed, if the grant may read every type they reach. */
export function includeOf(engine: Engine, grant: Grant, noun: Noun, input: unknown): readonly string[] {
  if (input === undefined) return NONE
  const include = parseInclude(input, noun, engine.nouns)
  for (const type of includedTypes(include, noun, engine.nouns)) demand(grant, 'read', engine.noun(type))
  return include
}

/** The condition that an industry's lens adds: on the type's own field, else through its relation to Organization. */
export function industryFilter(engine: Engine, grant: Grant, noun: Noun, lens: Pick<Lens, 'industry'>): Filter {
  if (lens.industry === null) return allOf([])
  const path = noun.fields.industry ? 'industry' : industryBehind(noun)
  if (path === null) return allOf([])
  const word = lens.industry
  const spellings = [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]
  return askedFilter(engine, grant, noun, { [path]: { $in: spellings } })
}

/** The industry of a type's organization. Of several relations to Organization, the one called so is its own. */
function industryBehind({ fields }: Noun): string | null {
  const found = Object.values(fields).filter((field) => field.kind === 'forward' && field.target === 'Organization')
  const own = found.find(({ name }) => name === 'organization') ?? (found.length === 1 ? found[0] : undefined)
  return own === undefined ? null : `${own.name}.industry`
}

/** The seq that `asOf` means: of a time, the last event at or before it. The service's own types have their own past. */
export function asOfSeq(engine: Engine, value: unknown, type = ''): number {
  const moment = parseAsOf(value, engine.nextTime())
  if ('seq' in moment) return Math.min(moment.seq, engine.head.seq)
  const { at } = moment
  if (at >= engine.head.at) return engine.head.seq
  // What lies before the newest event does not change any more.
  const isOwn = isOwnType(type)
  return engine.cache.get(['Log'], `seq ${isOwn ? 'recorded ' : ''}at ${at}`, () =>
    (isOwn ? recordedSeqAt : seqAt)(engine.sql, engine.head, at),
  )
}
