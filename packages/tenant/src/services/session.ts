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
import type { Steps } from '../engine/turns.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { aggregate } from '../query/answer/aggregate.ts'
import { aggregateInSlices } from '../query/answer/aggregate-in-slices.ts'
import { count, find, get, type Page, type Query } from '../query/answer/find.ts'
import { countInSlices, findInSlices } from '../query/answer/find-in-slices.ts'
import { parseFields, project } from '../query/parameters/fields.ts'
import { DEFAULT_LIMIT, limitOf, offsetOf } from '../query/parameters/limits.ts'
import { aggregationOf, industryFilter, parseQuery } from '../query/parameters/parameters.ts'
import { readContextOf } from '../query/read-context.ts'
import type { ReadContext } from '../query/reader.ts'
import { grantOn } from '../query/rights/comment-rows.ts'
import { asksWords, indexTextInSteps } from '../query/words/text.ts'
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

/** What code asks: answered as a whole, or in steps where many rows may have to be looked at. */
export interface CodeQuestion {
  readonly whole: () => Json
  readonly steps?: () => Steps<Json>
  /** Whether it is not even tried as a whole. */
  readonly isLong?: boolean
}

/** Runs a reading operation. */
export function readOperation(reading: Reading, type: string, operation: string, args: readonly Json[]): Json {
  return readQuestion(reading, type, operation, args).whole()
}

/** The question of a reading operation. */
export function readQuestion(reading: Reading, type: string, operation: string, args: readonly Json[]): CodeQuestion {
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

const READS: {
  readonly [name: string]: (reading: Reading, noun: Noun, args: readonly Json[]) => CodeQuestion
} = {
  find: (reading, noun, [filter, options]) => found(reading, noun, filter, options, (results) => results),
  findOne: (reading, noun, [filter, options]) =>
    found(reading, noun, filter, { ...(options as JsonObject | undefined), limit: 1 }, ([first]) => first ?? null),
  findPage: (reading, noun, [filter, options]) =>
    found(
      reading,
      noun,
      filter,
      options,
      (results, { total, hasMore, cursor }) => ({ results, total: total ?? null, hasMore, cursor }),
      true,
    ),
  count(reading, noun, [filter, options]) {
    const { engine, grant, budget } = reading
    const reader = readContextOf(engine, grant, budget)
    const query = queryOf(reading, noun, filter, options)
    return longQuestion(
      reader,
      query.filter,
      () => count(reader, query),
      () => countInSlices(reader, query),
    )
  },
  aggregate(reading, noun, [given]) {
    const { engine, grant, budget } = reading
    const reader = readContextOf(engine, grant, budget)
    const asked = throughLens(reading, noun, aggregationOf(engine, grant, noun, given))
    return longQuestion(
      reader,
      asked.filter,
      () => ({ ...aggregate(reader, noun, asked) }),
      function* () {
        return { ...(yield* aggregateInSlices(reader, noun, asked)) }
      },
    )
  },
  history: ({ engine, grant }, noun, [id, options]) => ({
    whole() {
      const { limit, cursor } = parseQuery(engine, grant, noun, {}, options)
      const before = cursor === null ? null : Number(cursor)
      const versions = history(engine, grant, noun, textOf(id, 'history', noun.name), limit ?? 25, before)
      return versions as unknown as Json
    },
  }),
  timers: ({ engine, grant }, noun, [id]) => ({
    whole: () => timersOf(engine, grant, noun, textOf(id, 'timers', noun.name)).timers!,
  }),
  get: (reading, noun, [id, options]) => ({
    whole() {
      const { engine, grant, budget, url } = reading
      const query = parseQuery(engine, grant, noun, {}, options)
      const view = viewFor(reading, noun, query, options)
      const reader = readContextOf(engine, grant, budget, url ?? engine.context)
      const one = get(reader, noun.name, textOf(id, 'get', noun.name), { include: query.include, asOf: query.asOf })
      return one ? view(one) : null
    },
  }),
}

/** A question for a page of entities. */
function found(
  reading: Reading,
  noun: Noun,
  filter: unknown,
  options: unknown,
  shown: (results: readonly JsonObject[], page: Page) => Json,
  total?: boolean,
): CodeQuestion {
  const { engine, grant, budget, url } = reading
  const asked = queryOf(reading, noun, filter, options)
  const query = total ? { ...asked, total } : asked
  const view = viewFor(reading, noun, query, options)
  const reader = readContextOf(engine, grant, budget, url ?? engine.context)
  limitOf(query.limit ?? DEFAULT_LIMIT)
  offsetOf(query.offset ?? 0)
  const answer = (page: Page) => shown(page.results.map(view), page)
  return longQuestion(
    reader,
    query.filter,
    () => answer(find(reader, query)),
    function* () {
      return answer(yield* findInSlices(reader, query))
    },
  )
}

/** A question that may take long. One that asks for words is answered as a whole, once the index of words knows all events. */
function longQuestion(
  reader: ReadContext,
  filter: Filter | undefined,
  whole: () => Json,
  steps: () => Steps<Json>,
): CodeQuestion {
  if (!asksWords(filter)) return { whole, steps }
  return {
    whole,
    *steps() {
      yield* indexTextInSteps(reader)
      return whole()
    },
  }
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
