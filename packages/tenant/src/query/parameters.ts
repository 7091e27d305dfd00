import {
  allOf,
  type Filter,
  isPlainObject,
  type Lens,
  type Noun,
  Problem,
  parseInstant,
  parseSort,
  touches,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant, isNarrowed, may, rowsOf } from '../grant/grant.ts'
import { seqAt } from '../store/log.ts'
import { filterOf } from './filter.ts'
import type { Query } from './find.ts'
import { includedTypes, parseInclude } from './include.ts'
import type { ReadContext } from './reader.ts'

const QUERY_MS = 5_000
const MOST = 100
const NONE: readonly string[] = []

/** Reads a tenant for somebody: what they may see, as it is now. */
export function readContextOf(tenant: Engine, grant: Grant, context: string = tenant.context): ReadContext {
  return new TenantReader(tenant, grant, context)
}

class TenantReader implements ReadContext {
  readonly sql: ReadContext['sql']
  readonly nouns: ReadContext['nouns']
  readonly now: number
  readonly budgetMs: number
  readonly narrow: ReadContext['narrow']
  readonly totals: ReadContext['totals']
  readonly context: string
  readonly #tenant: Engine
  readonly #grant: Grant

  constructor(tenant: Engine, grant: Grant, context: string) {
    const narrowed = isNarrowed(grant)
    this.sql = tenant.sql
    this.nouns = tenant.nouns
    this.now = tenant.now()
    this.budgetMs = tenant.options.queryMs ?? QUERY_MS
    this.narrow = narrowed ? (type) => rowsOf(tenant, grant, type) : undefined
    // A total under a key's own rows is nobody else's.
    this.totals = narrowed ? undefined : tenant.totals
    this.context = context
    this.#tenant = tenant
    this.#grant = grant
  }

  fieldNumber(type: string, name: string): number | null {
    return this.#tenant.fieldNumber(type, name)
  }

  hidden(type: string): boolean {
    return !readable(this.#tenant, this.#grant, type)
  }
}

/** Whether events of this type may be shown: those of types that no path can name are for administrators. */
export function readable(tenant: Engine, grant: Grant, type: string): boolean {
  const noun = tenant.nouns.get(type)
  return noun?.name === type ? may(grant, 'read', noun) : may(grant, 'admin', { name: type, domain: 'platform' })
}

/** The question that a filter and options in the form of code ask: `{sort: {value: -1}, limit: 5, include: ['deals']}`. */
export function queryOf(tenant: Engine, grant: Grant, noun: Noun, filter: unknown, options: unknown): Query {
  const given = options ?? {}
  if (!isPlainObject(given))
    throw new Problem('invalid_parameter', 'The options must be an object, such as {limit: 10}.', { type: noun.name })
  const parsed = filterOf(tenant, noun, filter)
  return {
    type: noun.name,
    filter: demandReachable(tenant, grant, parsed),
    sort: given.sort === undefined ? [] : parseSort(given.sort, noun, tenant.nouns),
    limit: given.limit === undefined ? MOST : limitOf(given.limit),
    offset: given.offset === undefined ? 0 : offsetOf(given.offset),
    cursor: typeof given.cursor === 'string' ? given.cursor : null,
    asOf: given.asOf === undefined ? null : asOfSeq(tenant, given.asOf),
    include: includeOf(tenant, grant, noun, given.include),
    total: false,
  }
}

/** The filter, if its sender may read every type it reaches. */
export function demandReachable(tenant: Engine, grant: Grant, filter: Filter): Filter {
  for (const type of touches(filter)) demand(grant, 'read', tenant.noun(type))
  return filter
}

/** The relations to embed, if the grant may read every type they reach. */
export function includeOf(tenant: Engine, grant: Grant, noun: Noun, input: unknown): readonly string[] {
  if (input === undefined) return NONE
  const include = parseInclude(input, noun, tenant.nouns)
  for (const type of includedTypes(include, noun, tenant.nouns)) demand(grant, 'read', tenant.noun(type))
  return include
}

/** The condition that an industry's lens adds: on the type's own field, else through its organization. */
export function industryFilter(tenant: Engine, noun: Noun, lens: Pick<Lens, 'industry'>): Filter {
  if (lens.industry === null) return allOf([])
  const organization = noun.fields.organization
  const path = noun.fields.industry
    ? 'industry'
    : organization?.kind === 'forward' && organization.target === 'Organization'
      ? 'organization.industry'
      : null
  if (path === null) return allOf([])
  const word = lens.industry
  const spellings = [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)]
  return filterOf(tenant, noun, { [path]: { $in: spellings } })
}

export function limitOf(value: unknown, most = MOST): number {
  const limit = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= most) return limit as number
  throw new Problem('invalid_limit', `limit is a whole number from 1 to ${most}.`, { field: 'limit', limit: most })
}

export function offsetOf(value: unknown): number {
  const offset = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (Number.isInteger(offset) && (offset as number) >= 0) return offset as number
  throw new Problem('invalid_offset', 'offset is a whole number from 0.', { field: 'offset' })
}

/** The seq that a time means: the last event at or before it. */
export function asOfSeq(tenant: Engine, value: unknown): number {
  const at = typeof value === 'string' ? parseInstant(value) : null
  // What lies before the newest event does not change any more.
  if (at !== null && at < tenant.head.at) {
    return tenant.cache.get(['Log'], `seq at ${at}`, () => seqAt(tenant.sql, tenant.head, at))
  }
  if (at !== null) return tenant.head.seq
  throw new Problem('invalid_as_of', 'asOf is an ISO 8601 time, such as 2026-01-31T12:00:00Z.', { field: 'asOf' })
}
