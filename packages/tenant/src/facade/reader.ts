import { type Filter, isoOf, type JsonObject, type Noun, type Nouns, Problem } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import { countFunnel, funnelOf } from '../business/funnel.ts'
import { BusinessReader } from '../business/reader.ts'
import type { Engine } from '../engine/engine.ts'
import { briefOrInTurns, inTurns } from '../engine/turns.ts'
import { demand, demandAll, demandArea, demandUnlimited, type Grant, may } from '../grant/grant.ts'
import type { Action } from '../grant/scopes.ts'
import type { Hasher } from '../ports.ts'
import { type Aggregation, aggregate, type Groups } from '../query/answer/aggregate.ts'
import { aggregateInSlices } from '../query/answer/aggregate-in-slices.ts'
import { count, find, get, type Page, type Query } from '../query/answer/find.ts'
import { countInSlices, findInSlices } from '../query/answer/find-in-slices.ts'
import { sizeOf } from '../query/answer/include.ts'
import { demandPaths } from '../query/parameters/parameters.ts'
import { explain } from '../query/plan/explain.ts'
import { type CachedQuery, cachedQuery, rememberSlow } from '../query/plan/plan-cache.ts'
import { readContextOf } from '../query/read-context.ts'
import type { ReadContext } from '../query/reader.ts'
import { grantOn } from '../query/rights/comment-rows.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { asksWords } from '../query/words/text.ts'
import { Snapshot } from '../services/bulk/snapshot.ts'
import { type ForkChanges, forkChanges } from '../services/changesets/fork.ts'
import { type Changes, changesAfter, changesInSteps, countAfter, type Patterns } from '../services/events/changes.ts'
import { diff, history, type VersionPage } from '../services/history.ts'
import { type Role, roleOf, rolesOf } from '../services/identity/roles.ts'
import { statusOf } from '../services/status.ts'
import { type SubmissionPage, submissions } from '../services/submissions.ts'
import { ownNotation } from '../services/types/schema.ts'
import type { Stored } from '../store/entities.ts'
import { typesWithEntities } from '../store/log/changes.ts'
import { seqAt } from '../store/log/log.ts'
import { notFound } from '../write/verb.ts'
import type { CountedFunnel } from '../write/verb-request.ts'
import type { TenantServices } from './create-services.ts'
import { QuestionReader } from './questions.ts'
import { ReactionReader } from './reaction-reader.ts'
import { demandFewGroups, demandFewRows, limited } from './rows-per-answer.ts'

/** A tenant as a grant may read it. Rights and rows are applied here, and every answer counts against the budget. */
export class TenantReader {
  readonly grant: Grant
  readonly budget: Budget
  readonly #engine: Engine
  readonly #services: TenantServices
  /** What `$context` shows in the entities of this reader. */
  readonly context: string
  /** Whether long answers are promises, read in turns with others. A commit cannot wait for one. */
  readonly mayYield: boolean
  #known: ReadContext | null = null

  constructor(services: TenantServices, grant: Grant, budget: Budget, context: string, mayYield: boolean) {
    this.mayYield = mayYield
    this.grant = grant
    this.budget = budget
    this.context = context
    this.#engine = services.transactor.engine
    this.#services = services
  }

  /** The same reader for use inside a commit: every answer is there at once. */
  atOnce(): TenantReader {
    return this.mayYield ? new TenantReader(this.#services, this.grant, this.budget, this.context, false) : this
  }

  /** The same reader with the rights that it has on a type: more than its scopes say for comments. */
  #on(noun: Noun): TenantReader {
    const grant = grantOn(this.#engine, this.grant, noun, 'read')
    if (grant === this.grant) return this
    return new TenantReader(this.#services, grant, this.budget, this.context, this.mayYield)
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

  /** What the tenant itself has declared of a type. */
  ownNotation(noun: Noun): JsonObject {
    return ownNotation(this.#engine, noun.name)
  }

  may(action: Action, noun: Noun): boolean {
    return may(grantOn(this.#engine, this.grant, noun, action), action, noun)
  }

  /** Refuses an action that the grant does not allow on a type. */
  demand(action: Action, noun: Noun): void {
    demand(grantOn(this.#engine, this.grant, noun, action), action, noun)
  }

  /** Refuses the events of types none of which the grant may read. With its entities it does not read events of comments. */
  demandEventsOf(nouns: readonly Noun[]): void {
    if (nouns.every((noun) => !may(this.grant, 'read', noun))) demand(this.grant, 'read', nouns[0]!)
  }

  /** Refuses a grant that may write nothing. */
  demandSomeWriting(): void {
    if (this.grant.scopes.some(({ action }) => action === 'write' || action === 'admin')) return
    throw new Problem('forbidden', 'This key may not write. It needs a write scope on some type.')
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

  /** What requests ask, read from the text of their parameters. */
  get questions(): QuestionReader {
    return new QuestionReader(this.#engine, this.grant, this.budget)
  }

  /** The last seq at or before a time. */
  seqAt(at: number): number {
    return seqAt(this.#engine.sql, this.#engine.head, at)
  }

  /** A query that was read from a string, kept with its plan while the key and the types stay as they are. */
  query(noun: Noun, text: string, parse: () => Query): CachedQuery {
    const on = this.#on(noun)
    demand(on.grant, 'read', noun)
    return cachedQuery(this.#engine, on.#reader, on.grant, noun, text, parse)
  }

  /** A page of entities: a promise if it takes long and this reader lets others have their turn. */
  list(cached: CachedQuery): Page | Promise<Page> {
    const { query, prepared } = cached
    const on = this.#on(this.noun(query.type))
    if (on !== this) return on.list(cached)
    const allowed = limited(this.grant, this.#allowed(query))
    const whole = () => this.#counted(find(this.#reader, allowed, allowed === query ? prepared : null))
    if (!this.mayYield || asksWords(query.filter)) return whole()
    const steps = () => this.#countedAfter(findInSlices(this.#reader, allowed))
    if (cached.isSlow) return this.inTurns(steps())
    const page = this.#inTurnsIfLong(whole, steps)
    if (page instanceof Promise) rememberSlow(this.#engine, cached)
    return page
  }

  count(query: Query): number | Promise<number> {
    const on = this.#on(this.noun(query.type))
    if (on !== this) return on.count(query)
    const whole = () => count(this.#reader, this.#allowed(query))
    if (!this.mayYield || asksWords(query.filter)) return whole()
    return this.#inTurnsIfLong(whole, () => countInSlices(this.#reader, query))
  }

  /** Does the steps of something that takes long, with turns for others in between. */
  inTurns<T>(steps: Iterator<void, T>): Promise<T> {
    return inTurns(this.#engine.ports.turns, steps)
  }

  /** One entity, or the problem of there being none. */
  get(noun: Noun, id: string, options: Pick<Query, 'asOf' | 'include'> = {}): Stored {
    const on = this.#on(noun)
    demand(on.grant, 'read', noun)
    const entity = get(on.#reader, noun.name, id, options)
    if (!entity) throw notFound(noun.name, id)
    demandFewRows(this.grant, [entity])
    this.budget.spendBytes(sizeOf(entity))
    return entity
  }

  aggregate(noun: Noun, asked: Aggregation): Groups | Promise<Groups> {
    const on = this.#on(noun)
    if (on !== this) return on.aggregate(noun, asked)
    this.#demandAggregation(noun, asked)
    const few = (groups: Groups) => demandFewGroups(this.grant, groups)
    const whole = () => few(aggregate(this.#reader, noun, asked))
    if (!this.mayYield || asksWords(asked.filter)) return whole()
    const groups = this.#inTurnsIfLong(whole, () => aggregateInSlices(this.#reader, noun, asked))
    return groups instanceof Promise ? groups.then(few) : groups
  }

  #demandAggregation(noun: Noun, asked: Aggregation): void {
    demand(this.grant, 'read', noun)
    const paths = [asked.group, asked.sum, asked.avg, asked.min, asked.max].flatMap((texts) => texts ?? [])
    demandPaths(this.#engine, this.grant, noun, paths)
  }

  /**
   * Counts a funnel in turns with others, for `Funnel.analyze`. Undefined when it cannot be: the verb then says why, if
   * the grant allows it.
   */
  async countFunnel(id: string, given: unknown): Promise<CountedFunnel | undefined> {
    try {
      return await oneAtATime(this.#engine, () =>
        this.inTurns(countFunnel(this.#engine, this.grant, this.budget, funnelOf(this.#engine, id), given)),
      )
    } catch (reason) {
      if (reason instanceof Problem && reason.code !== 'over_budget') return undefined
      throw reason
    }
  }

  /** How a query would be answered, for administrators: it shows what exists beyond a key's own rows. */
  explain(query: Query) {
    demandAll(this.grant, 'Explaining a query')
    return explain(this.#reader, this.#allowed(query))
  }

  history(noun: Noun, id: string, limit: number, before: number | null): VersionPage {
    const { grant } = this.#on(noun)
    demand(grant, 'read', noun)
    return history(this.#engine, grant, noun, id, this.#atMost(limit), before)
  }

  /** What a form was sent. */
  submissions(noun: Noun, id: string, limit: number, before: number | null): SubmissionPage {
    this.get(noun, id)
    return submissions(this.#engine, this.grant, noun, id, this.#atMost(limit), before)
  }

  diff(noun: Noun, id: string, from: string, to: string): JsonObject {
    const { grant } = this.#on(noun)
    demand(grant, 'read', noun)
    return diff(this.#engine, grant, noun, id, from, to)
  }

  /** A page of the change stream: a promise where events have to be looked at one by one. */
  events(patterns: Patterns, after: number, limit: number): Changes | Promise<Changes> {
    const most = this.#atMost(limit)
    if (!this.mayYield || visibilityOf(this.#engine, this.grant, patterns).byName)
      return changesAfter(this.#engine, this.grant, patterns, after, most)
    return this.inTurns(changesInSteps(this.#engine, this.grant, patterns, after, most))
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
      return noun?.name === type && may(this.grant, 'read', noun) ? [noun] : []
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
    return statusOf(this.#engine, this.grant)
  }

  /** The limit of a page of versions or events, or that of an agent if it is less. */
  #atMost(limit: number): number {
    return Math.min(limit, this.grant.limits?.rowsPerAnswer ?? limit)
  }

  #allowed(query: Query): Query {
    demand(this.grant, 'read', this.noun(query.type))
    return query
  }

  #inTurnsIfLong<T>(whole: () => T, steps: () => Iterator<void, T>): T | Promise<T> {
    return briefOrInTurns(this.#engine.ports.turns, this.budget, whole, steps)
  }

  *#countedAfter(steps: Generator<void, Page>): Generator<void, Page> {
    return this.#counted(yield* steps)
  }

  #counted(page: Page): Page {
    for (const entity of page.results) this.budget.spendBytes(sizeOf(entity))
    demandFewRows(this.grant, page.results)
    return page
  }
}

const counting = new WeakMap<Engine, Promise<unknown>>()

/** Does work of a tenant when that before it is done: each holds all that it counts in memory. */
function oneAtATime<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  const done = (counting.get(engine) ?? Promise.resolve()).then(work)
  counting.set(
    engine,
    done.catch(() => {}),
  )
  return done
}
