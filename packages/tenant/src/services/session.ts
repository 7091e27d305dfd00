import {
  allOf,
  EVERYTHING,
  type Filter,
  isPlainObject,
  type Json,
  type JsonObject,
  type Lens,
  type Noun,
  Problem,
} from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { aggregate } from '../query/answer/aggregate.ts'
import { count, find, get, type Query } from '../query/answer/find.ts'
import { parseFields, project } from '../query/parameters/fields.ts'
import { aggregationOf, industryFilter, parseQuery } from '../query/parameters/parameters.ts'
import { readContextOf } from '../query/read-context.ts'
import { grantOn } from '../query/rights/comment-rows.ts'
import type { Stored } from '../store/entities.ts'
import { entityView } from '../view/entity.ts'
import { runVerb } from '../write/run-verb.ts'
import type { Write } from '../write/write.ts'
import { history } from './history.ts'
import { timersOf } from './timers/view.ts'

/** One operation of a session, as code calls it. */
// biome-ignore lint/suspicious/noExplicitAny: what an operation takes and returns depends on types that the tenant declares.
type SessionOperation = (...args: any[]) => any

/** A tenant's data as code sees it: `$.Contact.find({stage: 'Lead'})`, `$.Deal.win(id)`. */
export type Session = { readonly [type: string]: { readonly [operation: string]: SessionOperation } }

/** The grant and the budget of a read. */
export interface Reading {
  readonly engine: Engine
  readonly grant: Grant
  readonly budget?: Budget
  /** `$context` of the entities, if it is not that of the tenant. */
  readonly url?: string | null
  /** Its industry filters what is found, counted and measured. */
  readonly lens?: Lens
}

/** A session: every type a property, every operation and verb a function of it, which `run` runs. */
export function sessionOf(run: (type: string, operation: string, args: readonly Json[]) => unknown): Session {
  const isName = (key: string | symbol): key is string => typeof key === 'string' && key !== 'then'
  return new Proxy({} as Session, {
    get: (_, type) =>
      isName(type)
        ? new Proxy({} as Session[string], {
            get: (_, operation) => (isName(operation) ? (...args: Json[]) => run(type, operation, args) : undefined),
          })
        : undefined,
  })
}

/** The session of code that runs inside a write. */
export function sessionIn(write: Write): Session {
  const { engine, grant, context } = write
  return sessionOf((type, operation, args) =>
    isReadOperation(operation)
      ? readOperation({ engine, grant, budget: context.budget }, type, operation, args)
      : write.attempt(() => writeOperation(write, type, operation, args)),
  )
}

/** Whether an operation of a session only reads. */
export function isReadOperation(operation: string): boolean {
  return Object.hasOwn(READS, operation)
}

/** Runs a reading operation. */
export function readOperation(reading: Reading, type: string, operation: string, args: readonly Json[]): Json {
  const noun = reading.engine.noun(type)
  const grant = grantOn(reading.engine, reading.grant, noun, 'read')
  demand(grant, 'read', noun)
  return READS[operation]!({ ...reading, grant }, noun, args)
}

/** Runs a writing operation. */
export function writeOperation(write: Write, type: string, operation: string, args: readonly Json[]): Json {
  const noun = write.engine.noun(type)
  const context = write.context.url ?? write.engine.context
  if (operation === 'create') {
    const { entity, secret } = runVerb(write, { type: noun.name, verb: 'create', data: args[0] })
    // Stored code could leave a secret in its own failure messages.
    const isShown = secret !== undefined && !write.grant.author
    return isShown ? { ...entityView(entity, context), secret } : entityView(entity, context)
  }
  // An unknown verb is reported first, whatever it was called with.
  const id = Object.hasOwn(noun.verbs, operation) ? textOf(args[0], operation, noun.name) : ''
  const { entity } = runVerb(write, { type: noun.name, verb: operation, id, data: args[1] ?? {} })
  return operation === 'delete' ? null : entityView(entity, context)
}

const READS: { readonly [name: string]: (reading: Reading, noun: Noun, args: readonly Json[]) => Json } = {
  find: (reading, noun, [filter, options]) => results(reading, noun, filter, options),
  findOne: (reading, noun, [filter, options]) =>
    results(reading, noun, filter, { ...(options as JsonObject | undefined), limit: 1 })[0] ?? null,
  findPage: (reading, noun, [filter, options]) => {
    const { engine, grant, budget, url } = reading
    const query = { ...queryOf(reading, noun, filter, options), total: true }
    const view = viewFor(reading, noun, query, options)
    const { results, total, hasMore, cursor } = find(readContextOf(engine, grant, budget, url ?? engine.context), query)
    return { results: results.map(view), total: total ?? null, hasMore, cursor }
  },
  count: (reading, noun, [filter, options]) =>
    count(readContextOf(reading.engine, reading.grant, reading.budget), queryOf(reading, noun, filter, options)),
  aggregate: (reading, noun, [asked]) => {
    const { engine, grant, budget } = reading
    const aggregation = throughLens(reading, noun, aggregationOf(engine, grant, noun, asked))
    return { ...aggregate(readContextOf(engine, grant, budget), noun, aggregation) }
  },
  history: ({ engine, grant }, noun, [id, options]) => {
    const { limit, cursor } = parseQuery(engine, grant, noun, {}, options)
    const before = cursor === null ? null : Number(cursor)
    const versions = history(engine, grant, noun, textOf(id, 'history', noun.name), limit ?? 25, before)
    return versions as unknown as Json
  },
  timers: ({ engine, grant }, noun, [id]) => timersOf(engine, grant, noun, textOf(id, 'timers', noun.name)).timers!,
  get: (reading, noun, [id, options]) => {
    const { engine, grant, budget, url } = reading
    const query = parseQuery(engine, grant, noun, {}, options)
    const view = viewFor(reading, noun, query, options)
    const reader = readContextOf(engine, grant, budget, url ?? engine.context)
    const found = get(reader, noun.name, textOf(id, 'get', noun.name), { include: query.include, asOf: query.asOf })
    return found ? view(found) : null
  },
}

function results(reading: Reading, noun: Noun, filter: unknown, options: unknown): JsonObject[] {
  const { engine, grant, budget, url } = reading
  const query = queryOf(reading, noun, filter, options)
  const view = viewFor(reading, noun, query, options)
  return find(readContextOf(engine, grant, budget, url ?? engine.context), query).results.map(view)
}

function queryOf(reading: Reading, noun: Noun, filter: unknown, options: unknown): Query {
  return throughLens(reading, noun, parseQuery(reading.engine, reading.grant, noun, filter, options))
}

/** What is asked, of the entities that the lens shows. */
function throughLens<T extends { readonly filter?: Filter | undefined }>(
  { engine, grant, lens }: Reading,
  noun: Noun,
  asked: T,
): T {
  if (lens === undefined || lens.industry === null) return asked
  return { ...asked, filter: allOf([asked.filter ?? EVERYTHING, industryFilter(engine, grant, noun, lens)]) }
}

/** Shows entities with the fields that the options name, or with all. */
function viewFor({ engine, url }: Reading, noun: Noun, { include }: Query, options: unknown) {
  const fields = parseFields(isPlainObject(options) ? options.fields : undefined, noun)
  return (found: Stored): JsonObject => project(entityView(found, url ?? engine.context), fields, include)
}

function textOf(id: Json | undefined, operation: string, type: string): string {
  if (typeof id === 'string') return id
  throw new Problem('invalid_parameter', `${type}.${operation} needs the id of an entity as its first argument.`, {
    type,
    field: 'id',
  })
}
