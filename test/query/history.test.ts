import {
  allOf,
  comparator,
  type Filter,
  type Follow,
  isoOf,
  type JsonObject,
  match,
  type Noun,
  noun,
  nounsOf,
  parseSort,
} from '@tildebase/nouns'
import fc from 'fast-check'
import { expect } from 'vitest'
import { count, find, get, type Page, type Query } from '../../packages/tenant/src/query/answer/find.ts'
import { regexTest } from '../../packages/tenant/src/query/words/regex.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const Company = noun('Company', {
  name: 'string#',
  size: 'number',
  parent: '-> Company.subsidiaries',
  subsidiaries: '<- Company.parent[]',
  people: '<- Person.company[]',
}) as unknown as Noun
const Person = noun('Person', {
  name: 'string##',
  score: 'number#',
  company: '-> Company.people',
  friends: '-> Person[]',
  fans: '<- Person.friends[]',
  notes: 'json',
}) as unknown as Noun
const NOUNS = nounsOf([Company, Person])
const RUNS = Number(process.env.TILDE_RUNS ?? 8_000)
const SEED = Number(process.env.TILDE_SEED ?? Date.now() % 2 ** 31)

const companyId = fc.constantFrom('company_a', 'company_b', 'company_c', 'company_gone')
const personId = fc.constantFrom('person_a', 'person_b', 'person_c', 'person_d', 'person_e', 'person_f')
const name = fc.constantFrom('Ada', 'Bob', 'ada', 'Éva', '')
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const company = fc.record(
  { name: some(name), size: some(fc.constantFrom(1, 2, 3.5)), parent: some(companyId) },
  { requiredKeys: [] },
)
const person = fc.record(
  {
    name: some(name),
    score: some(fc.constantFrom(0, 1, 2)),
    company: some(companyId),
    friends: fc.uniqueArray(personId, { maxLength: 3 }),
    notes: some(fc.constantFrom({ x: 1 }, [{ x: 1 }, { x: 2 }], 'x')),
  },
  { requiredKeys: [] },
)
const write = fc.oneof(
  fc.tuple(
    fc.constant('Company'),
    companyId.filter((id) => id !== 'company_gone'),
    some(company),
  ),
  fc.tuple(fc.constant('Person'), personId, some(person)),
)
const history = fc.array(write, { minLength: 10, maxLength: 40 })

const operator = fc.oneof(
  fc.oneof(name, fc.constantFrom(0, 1, 2, 3.5), companyId, personId, fc.constant(null)),
  fc
    .tuple(fc.constantFrom('$gt', '$lte', '$ne'), fc.oneof(name, fc.constantFrom(0, 1, 2)))
    .map(([key, value]) => ({ [key]: value })),
  fc
    .tuple(
      fc.constantFrom('$in', '$nin'),
      fc.array(fc.oneof(name, fc.constantFrom(0, 1), companyId, fc.constant(null)), { maxLength: 3 }),
    )
    .map(([key, value]) => ({ [key]: value })),
  fc.boolean().map((value) => ({ $exists: value })),
  fc.constantFrom('a', '^A').map((value) => ({ $regex: value })),
)
const PATHS = [
  'name',
  'score',
  'company',
  'friends',
  'notes.x',
  'company.name',
  'company.size',
  'company.parent.name',
  'company.$id',
  'fans',
  'fans.score',
  'friends.name',
  'company.people.score',
  'friends.company.name',
  '$id',
  '$version',
  'company.$version',
]
const leaf = fc.tuple(fc.constantFrom(...PATHS), operator).map(([path, value]) => ({ [path]: value }))
const filter = fc.oneof(
  leaf,
  fc.tuple(leaf, leaf).map(([a, b]) => ({ $and: [a, b] })),
  fc.tuple(leaf, leaf).map(($or) => ({ $or })),
  fc
    .tuple(fc.constantFrom(...PATHS), fc.constantFrom(0, 'Ada', 'company_a'))
    .map(([path, value]) => ({ [path]: { $not: { $eq: value } } })),
)
const sort = fc.constantFrom(
  '',
  'name',
  '-name',
  'score',
  '-score',
  'company,-score',
  '-$createdAt',
  'createdAt',
  '$updatedAt',
  'notes',
  'notes.x,-$id',
  '-$version,name',
  'friends',
)

/** A tenant as a simple program would keep it: the states of all entities after every event. */
class Replay {
  readonly states: Map<string, Row>[] = [new Map()]
  readonly #order = new Map<string, number>()

  put(type: string, id: string, data: JsonObject | null, at: number): void {
    const next = new Map(this.states.at(-1)!)
    const n = this.#order.get(id) ?? this.#order.set(id, this.#order.size + 1).size
    const known = this.states.flatMap((state) => state.get(id) ?? [])
    if (data === null) next.delete(id)
    else
      next.set(id, {
        type,
        n,
        entity: {
          ...data,
          $id: id,
          $type: type,
          $createdAt: isoOf(known[0] ? Date.parse(known[0].entity.$createdAt as string) : at),
          $updatedAt: isoOf(at),
          $createdBy: 'apiKey_1',
        },
      })
    this.states.push(next)
  }
}

interface Row {
  readonly type: string
  readonly n: number
  readonly entity: JsonObject
}

function played(writes: readonly (readonly [string, string, object | null])[]) {
  const ledger = new Ledger(NOUNS)
  const replay = new Replay()
  const versions = new Map<string, number>()
  for (const [type, id, data] of writes) {
    const there = replay.states.at(-1)!.has(id)
    if (data === null && !there) continue
    ledger.put(type, id, data as JsonObject | null)
    versions.set(id, (versions.get(id) ?? 0) + 1)
    replay.put(type, id, data && { ...(data as JsonObject), $version: versions.get(id)! }, ledger.now)
  }
  return { ledger, replay }
}

/** Relations as the replay has them. */
function follower(state: ReadonlyMap<string, Row>): Follow {
  return (hop, entity) => {
    const named = [entity[hop.field]].flat() as string[]
    if (hop.kind === 'forward') return named.map((id) => state.get(id)?.entity).filter((one) => one !== undefined)
    return [...state.values()]
      .filter((row) => row.type === hop.target && [row.entity[hop.via!]].flat().includes(entity.$id!))
      .map((row) => row.entity)
  }
}

function expected(state: ReadonlyMap<string, Row>, tree: Filter, order: string): string[] {
  const keys = parseSort(order, Person, NOUNS)
  return [...state.values()]
    .filter((row) => row.type === 'Person' && match(tree, row.entity, follower(state), regexTest))
    .sort(comparator(keys))
    .map((row) => row.entity.$id as string)
}

verifies(
  [
    'list.asOf.timestamp',
    'list.asOf.deleted',
    'dotted.direction',
    'dotted.toMany',
    'dotted.none',
    'sort.total',
    'sort.several',
    'sort.null',
    'sort.ties',
  ],
  `a list, now or as of any event, is what a replay of the versions gives (seed ${SEED})`,
  () => {
    fc.assert(
      fc.property(
        history,
        fc.array(fc.tuple(filter, sort, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 20, maxLength: 20 }),
        (writes, questions) => {
          const { ledger, replay } = played(writes)
          const reader = ledger.reader()
          for (const [json, order, when] of questions) {
            const tree = ledger.filter('Person', json)
            const asOf = Math.min(ledger.seq, Math.floor(when * (ledger.seq + 1)))
            const keys = parseSort(order, Person, NOUNS)
            const about = JSON.stringify({ json, order, asOf, writes })

            const past = find(reader, { type: 'Person', filter: tree, sort: keys, asOf, limit: 100 })
            const present = find(reader, { type: 'Person', filter: tree, sort: keys, limit: 100 })

            expect(ids(past), about).toEqual(expected(replay.states[asOf]!, tree, order))
            expect(ids(present), about).toEqual(expected(replay.states.at(-1)!, tree, order))
            expect(count(reader, { type: 'Person', filter: tree, asOf }), about).toBe(past.results.length)
            for (const row of past.results) {
              const { $version, $updatedAt } = replay.states[asOf]!.get(row.id)!.entity
              expect([row.version, isoOf(row.updatedAt)], about).toEqual([$version, $updatedAt])
              expect(get(reader, 'Person', row.id, { asOf }), about).toEqual(row)
            }
          }
        },
      ),
      { numRuns: Math.ceil(RUNS / 200), seed: SEED },
    )
  },
)

verifies(
  ['list.cursor', 'list.offset', 'cursor.null', 'list.total'],
  `walking by cursor, or by offset, gives the whole list (seed ${SEED})`,
  () => {
    fc.assert(
      fc.property(
        history,
        fc.array(fc.tuple(filter, sort, fc.integer({ min: 1, max: 3 }), fc.boolean()), {
          minLength: 10,
          maxLength: 10,
        }),
        (writes, questions) => {
          const { ledger } = played(writes)
          const reader = ledger.reader()
          for (const [json, order, limit, past] of questions) {
            const query: Query = {
              type: 'Person',
              filter: allOf([ledger.filter('Person', json)]),
              sort: parseSort(order, Person, NOUNS),
              ...(past && { asOf: Math.floor(ledger.seq / 2) }),
            }
            const whole = find(reader, { ...query, limit: 100 })
            const about = JSON.stringify({ json, order, limit, past, writes })

            const walked: string[] = []
            for (let cursor: string | null = null; ; ) {
              const page: Page = find(reader, { ...query, limit, cursor })
              walked.push(...ids(page))
              expect(page.total, about).toBe(whole.results.length)
              expect(page.cursor === null, about).toBe(!page.hasMore)
              cursor = page.cursor
              if (cursor === null) break
            }
            const skipped = whole.results.flatMap((_, offset) => ids(find(reader, { ...query, limit: 1, offset })))

            expect(walked, about).toEqual(ids(whole))
            expect(skipped, about).toEqual(ids(whole))
          }
        },
      ),
      { numRuns: Math.ceil(RUNS / 400), seed: SEED },
    )
  },
)

function ids(page: Page): string[] {
  return page.results.map((row) => row.id)
}
