import {
  type Filter,
  isoOf,
  isPlainObject,
  type JsonObject,
  type Lens,
  type Noun,
  type Nouns,
  Problem,
  parsePlain,
  resolvePath,
} from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import { BusinessReader } from '../business/reader.ts'
import type { Engine } from '../engine/engine.ts'
import { BRIEF_MS, inTurns } from '../engine/turns.ts'
import { demand, demandArea, demandUnlimited, type Grant, may } from '../grant/grant.ts'
import { type Action, scopesText } from '../grant/scopes.ts'
import type { Hasher } from '../ports.ts'
import { type Aggregation, aggregate, type Groups } from '../query/aggregate.ts'
import { aggregateInSlices } from '../query/aggregate-in-slices.ts'
import { filterOf } from '../query/filter.ts'
import { count, explain, find, get, type Page, type Query } from '../query/find.ts'
import { countInSlices, findInSlices } from '../query/find-in-slices.ts'
import { sizeOf } from '../query/include.ts'
import { DEFAULT_LIMIT } from '../query/limits.ts'
import { asOfSeq, demandReachable, includeOf, industryFilter } from '../query/parameters.ts'
import { type CachedQuery, cachedQuery, isSlow, rememberSlow } from '../query/plan-cache.ts'
import { readContextOf, rowFilterOf } from '../query/read-context.ts'
import type { ReadContext } from '../query/reader.ts'
import { asksWords } from '../query/text.ts'
import { type UnknownField, unknownField } from '../query/unknown-names.ts'
import { Snapshot } from '../services/bulk/snapshot.ts'
import { type ForkChanges, forkChanges } from '../services/changesets/fork.ts'
import { type Changes, changesAfter, countAfter, type Patterns } from '../services/events/changes.ts'
import { diff, history, type VersionPage } from '../services/history.ts'
import { type Role, roleOf, rolesOf } from '../services/identity/roles.ts'
import { type SubmissionPage, submissions } from '../services/submissions.ts'
import { entitiesByType } from '../services/summary.ts'
import { typesWithEntities } from '../store/changes.ts'
import type { Stored } from '../store/entities.ts'
import { seqAt } from '../store/log.ts'
import { readOrigin } from '../store/origin.ts'
import { notFound } from '../write/verb-input.ts'
import { ReactionReader } from './reaction-reader.ts'
import type { TenantServices } from './services.ts'

/** A tenant as a grant may read it. Rights and rows are applied here, and every answer counts against the budget. */
export class TenantReader {
  readonly grant: Grant
  readonly budget: Budget
  readonly #engine: Engine
  readonly #services: TenantServices
  /** What `$context` shows in the entities of this reader. */
  readonly context: string
  #known: ReadContext | null = null

  constructor(services: TenantServices, grant: Grant, budget: Budget, context: string) {
    this.grant = grant
    this.budget = budget
    this.context = context
    this.#engine = services.transactor.engine
    this.#services = services
  }

  /** Made when something is read: most writes read nothing. */
  get #reader(): ReadContext {
    this.#known ??= readContextOf(this.#engine, this.grant, this.budget, this.context)
    return this.#known
  }

  /** The tenant's types. */
  get nouns(): Nouns {
    return this.#engine.nouns
  }

  /** The type of that name or path, or a problem that names the nearest ones. */
  noun(name: string): Noun {
    return this.#engine.noun(name)
  }

  may(action: Action, noun: Noun): boolean {
    return may(this.grant, action, noun)
  }

  /** Refuses an action that the grant does not allow on a type. */
  demand(action: Action, noun: Noun): void {
    demand(this.grant, action, noun)
  }

  /** Refuses an action that the grant does not allow on an area. The engine does so too: this is for a clear answer. */
  demandArea(action: Action, area: string): void {
    demandArea(this.grant, action, area)
  }

  /** The time, for operands such as `7d ago`. */
  get now(): number {
    return this.#engine.nextTime()
  }

  /** The newest event: its seq, its time and its hash. */
  get head() {
    return this.#engine.head
  }

  /** A filter in the query language, if the grant may read every type that it reaches. */
  filter(noun: Noun, json: unknown): Filter {
    return demandReachable(this.#engine, this.grant, filterOf(this.#engine, noun, json))
  }

  /** Equalities that a URL gives as plain parameters, under the same condition. */
  equalities(noun: Noun, parameters: readonly (readonly [string, string])[]): Filter {
    const filter = parsePlain(parameters, noun, this.#engine.nouns, this.now)
    return demandReachable(this.#engine, this.grant, filter)
  }

  /** The condition that an industry's lens adds. */
  industry(noun: Noun, lens: Lens): Filter {
    return industryFilter(this.#engine, noun, lens)
  }

  /** What a name ends at that the type neither declares nor holds; null when it is known, or the search is too long. */
  unknownField(noun: Noun, text: string): UnknownField | null {
    return unknownField(this.#engine, this.grant, noun, text, this.budget.timer)
  }

  /** The relations to embed, if the grant may read every type that they reach. */
  include(noun: Noun, input: unknown): readonly string[] {
    return includeOf(this.#engine, this.grant, noun, input)
  }

  /** The seq that `asOf` means. */
  asOf(value: unknown): number {
    return asOfSeq(this.#engine, value)
  }

  /** The last seq at or before a time. */
  seqAt(at: number): number {
    return seqAt(this.#engine.sql, this.#engine.head, at)
  }

  /** A query that was read from a string, kept with its plan while the key and the types stay as they are. */
  query(noun: Noun, text: string, parse: () => Query): CachedQuery {
    demand(this.grant, 'read', noun)
    return cachedQuery(this.#engine, this.#reader, this.grant, noun, text, parse)
  }

  list({ query, prepared }: CachedQuery): Page {
    const limited = this.#limited(this.#allowed(query))
    return this.#counted(find(this.#reader, limited, limited === query ? prepared : null))
  }

  /** The same as a promise if it takes long: others then have their turn in between. */
  listInTurns(cached: CachedQuery): Page | Promise<Page> {
    const { query } = cached
    if (asksWords(query.filter)) return this.list(cached)
    const brief = isSlow(this.#engine, cached) ? null : this.budget.briefly(BRIEF_MS, () => this.list(cached))
    if (brief) return brief
    rememberSlow(this.#engine, cached)
    return this.inTurns(findInSlices(this.#reader, this.#limited(query))).then((page) => this.#counted(page))
  }

  count(query: Query): number {
    return count(this.#reader, this.#allowed(query))
  }

  /** The same as a promise if it takes long. */
  countInTurns(query: Query): number | Promise<number> {
    if (asksWords(query.filter)) return this.count(query)
    const brief = this.budget.briefly(BRIEF_MS, () => this.count(query))
    return brief ?? this.inTurns(countInSlices(this.#reader, query))
  }

  /** Does the steps of something that takes long, with turns for others in between. */
  inTurns<T>(steps: Iterator<void, T>): Promise<T> {
    return inTurns(this.#engine.ports.turns, steps)
  }

  /** One entity, or the problem of there being none. */
  get(noun: Noun, id: string, options: Pick<Query, 'asOf' | 'include'> = {}): Stored {
    demand(this.grant, 'read', noun)
    const entity = get(this.#reader, noun.name, id, options)
    if (!entity) throw notFound(noun.name, id)
    this.budget.spendBytes(sizeOf(entity))
    return entity
  }

  aggregate(noun: Noun, asked: Aggregation): Groups {
    this.#demandAggregation(noun, asked)
    return aggregate(this.#reader, noun, asked)
  }

  /** The same as a promise if it takes long. */
  aggregateInTurns(noun: Noun, asked: Aggregation): Groups | Promise<Groups> {
    this.#demandAggregation(noun, asked)
    const whole = () => aggregate(this.#reader, noun, asked)
    if (asksWords(asked.filter)) return whole()
    return this.budget.briefly(BRIEF_MS, whole) ?? this.inTurns(aggregateInSlices(this.#reader, noun, asked))
  }

  #demandAggregation(noun: Noun, asked: Aggregation): void {
    demand(this.grant, 'read', noun)
    for (const text of [asked.group, asked.sum, asked.avg, asked.min, asked.max].flatMap((texts) => texts ?? [])) {
      const path = resolvePath(text, noun, this.#engine.nouns)
      if ('hops' in path) for (const { target } of path.hops) demand(this.grant, 'read', this.noun(target))
    }
  }

  /** How a query would be answered, for administrators: it shows what exists beyond a key's own rows. */
  explain(query: Query) {
    demandArea(this.grant, 'admin', 'all')
    return explain(this.#reader, this.#allowed(query))
  }

  history(noun: Noun, id: string, limit: number, before: number | null): VersionPage {
    demand(this.grant, 'read', noun)
    return history(this.#engine, this.grant, noun, id, limit, before)
  }

  /** What a form was sent. */
  submissions(noun: Noun, id: string, limit: number, before: number | null): SubmissionPage {
    this.get(noun, id)
    return submissions(this.#engine, this.grant, noun, id, limit, before)
  }

  diff(noun: Noun, id: string, from: string, to: string): JsonObject {
    demand(this.grant, 'read', noun)
    return diff(this.#engine, this.grant, noun, id, from, to)
  }

  /** A page of the change stream. */
  events(patterns: Patterns, after: number, limit: number): Changes {
    const most = this.grant.limits?.rowsPerAnswer ?? limit
    return changesAfter(this.#engine, this.grant, patterns, after, Math.min(limit, most))
  }

  countEvents(patterns: Patterns, after: number): number | null {
    return countAfter(this.#engine, this.grant, patterns, after)
  }

  /** Whole collections, for exports: the entities of a type at one moment, page by page. */
  snapshot(noun: Noun, filter: Filter, asOf: number | null = null): Snapshot {
    demandUnlimited(this.grant)
    return new Snapshot(this.#engine, this.grant, noun, filter, asOf)
  }

  /** The types that have entities and that the grant may read. */
  storedTypes(): Noun[] {
    return typesWithEntities(this.#engine.sql).flatMap((type) => {
      const noun = this.nouns.get(type)
      return noun?.name === type && this.may('read', noun) ? [noun] : []
    })
  }

  /** An answer that is kept until one of the types changes. */
  cached<T>(types: readonly string[], key: string, compute: () => T): T {
    return this.#engine.cache.get([...types, 'Schema'], key, compute)
  }

  /** Forgets what is cached about a type. */
  forget(type: string): void {
    this.#engine.cache.forget(type)
  }

  /** A SHA-256 that is fed bit by bit. */
  hasher(): Hasher {
    return this.#engine.ports.seal.hasher()
  }

  /** What this fork did since it was made, if the grant sees all of it. */
  forkChanges(): ForkChanges {
    return forkChanges(this.#engine, this.grant)
  }

  /** The roles that people can have. */
  roles(): Role[] {
    return rolesOf(this.#engine)
  }

  role(name: string): Role | null {
    return roleOf(this.#engine, name)
  }

  /** When a key was last used, or null. */
  lastUsed(id: string): string | null {
    demand(this.grant, 'read', this.noun('ApiKey'))
    const at = this.#services.keys.lastUsed(id)
    return at === null ? null : isoOf(at)
  }

  /** What reacts to events and times. */
  get reactions(): ReactionReader {
    return new ReactionReader(this.#engine, this.grant)
  }

  /** Metrics and feature flags. */
  get business(): BusinessReader {
    return new BusinessReader(this.#engine, this.grant, this.#reader, this.#services.flagCounts)
  }

  /** How the tenant is, and what the key may do. */
  status(): JsonObject {
    const { seq, at } = this.#engine.head
    const origin = readOrigin(this.#engine.sql)
    const { actor, scopes, onBehalfOf, limits } = this.grant
    // How many there are is shown only for types that the key may read without a filter.
    const counts = entitiesByType(this.#engine).filter(([type]) => {
      const noun = this.nouns.get(type)
      return noun !== undefined && this.may('read', noun) && rowFilterOf(this.#engine, this.grant, type) === null
    })
    return {
      tenant: this.#engine.slug,
      key: {
        id: actor,
        scopes: scopes.map((scope) => scopesText([scope])),
        ...(onBehalfOf && { onBehalfOf }),
        ...(limits && { limits: { ...limits } as JsonObject }),
      },
      log: { seq, at: seq === 0 ? null : isoOf(at) },
      entities: Object.fromEntries(counts),
      ...(origin && { origin: { ...origin } }),
    }
  }

  #allowed(query: Query): Query {
    demand(this.grant, 'read', this.noun(query.type))
    return query
  }

  /** The query with no more results than an agent may get at once. */
  #limited(query: Query): Query {
    const most = this.grant.limits?.rowsPerAnswer
    return most === undefined ? query : { ...query, limit: Math.min(query.limit ?? DEFAULT_LIMIT, most) }
  }

  #counted(page: Page): Page {
    for (const entity of page.results) this.budget.spendBytes(sizeOf(entity))
    const most = this.grant.limits?.rowsPerAnswer
    if (most !== undefined && page.results.reduce((sum, one) => sum + rowsIn(one), 0) > most) throw overRows(most)
    return page
  }
}

/** How many entities an answer has in it: the entity and those that are embedded. */
function rowsIn({ extra = {} }: Stored): number {
  return 1 + embeddedIn(extra)
}

function embeddedIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  if (!isPlainObject(value)) return 0
  const inside = Object.values(value).reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  return inside + ('$id' in value ? 1 : 0)
}

function overRows(limit: number): Problem {
  return new Problem('over_budget', `This agent may get ${limit} entities per answer, embedded ones included.`, {
    limit: 'rows',
  })
}
