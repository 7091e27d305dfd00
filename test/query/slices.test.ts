import { type JsonObject, type Noun, noun, nounsOf, parseSort } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Aggregation, aggregate, type Groups } from '../../packages/tenant/src/query/answer/aggregate.ts'
import { aggregateInSlices } from '../../packages/tenant/src/query/answer/aggregate-in-slices.ts'
import { count, find, type Page, type Query } from '../../packages/tenant/src/query/answer/find.ts'
import { countInSlices, findInSlices } from '../../packages/tenant/src/query/answer/find-in-slices.ts'
import { verifies } from '../verifies.ts'
import { budgetOf, Ledger } from './ledger.ts'

const Thing = noun('Thing', {
  name: 'string',
  score: 'number',
  stage: 'string#',
  note: 'string',
}) as unknown as Noun
const RUNS = Math.ceil(Number(process.env.TILDE_RUNS ?? 8_000) / 50)
/** So small that a few rows are many slices. */
const SIZES = { first: 4, sorted: 3, kept: 5 }

const document = fc.record({
  name: fc.constantFrom('ada', 'bob', 'eve', 'Ada'),
  score: fc.option(fc.integer({ min: 0, max: 5 })),
  stage: fc.constantFrom('New', 'Seen'),
  note: fc.constantFrom('x1', 'x2', 'y'),
})
const filter = fc.constantFrom<object>(
  {},
  { stage: 'New' },
  { stage: 'New', note: { $ne: 'y' } },
  { note: { $regex: '^x' } },
  { $or: [{ score: { $gt: 2 } }, { name: { $regex: 'a$' } }] },
  { score: null },
  { name: 'nobody' },
)
const sort = fc.constantFrom([], ['note'], ['-score', 'name'], ['stage'], ['-stage'], ['$createdAt'])
const change = fc.record({ at: fc.nat(40), to: fc.option(document) })

interface Case {
  readonly documents: readonly JsonObject[]
  readonly filter: object
  readonly sort: readonly string[]
  readonly limit: number
  readonly offset: number
  readonly total: boolean
  readonly changes: readonly { readonly at: number; readonly to: JsonObject | null }[]
}

const cases: fc.Arbitrary<Case> = fc.record({
  documents: fc.array(document, { minLength: 1, maxLength: 40 }),
  filter,
  sort,
  limit: fc.integer({ min: 1, max: 8 }),
  offset: fc.constantFrom(0, 0, 1, 5),
  total: fc.boolean(),
  changes: fc.array(change, { maxLength: 12 }),
})

function ledgerOf({ documents }: Pick<Case, 'documents'>): Ledger {
  const ledger = new Ledger(nounsOf([Thing]))
  for (const [i, data] of documents.entries()) ledger.put('Thing', `thing_${i}`, data)
  return ledger
}

function queryOf(ledger: Ledger, { filter, sort, limit, offset, total }: Omit<Case, 'documents' | 'changes'>): Query {
  return {
    type: 'Thing',
    filter: ledger.filter('Thing', filter),
    sort: parseSort(sort.join(','), Thing, ledger.nouns),
    limit,
    offset,
    total,
  }
}

/** A budget of time, of which each look takes much. */
function slow() {
  let time = 0
  return budgetOf(Number.POSITIVE_INFINITY, () => {
    time += 100
    return time
  })
}

/** Does all steps, and something between each two of them. */
function driven<T>(steps: Generator<void, T>, between: (step: number) => void = () => {}): T {
  for (let i = 0; ; i++) {
    const step = steps.next()
    if (step.done) return step.value
    between(i)
  }
}

const shown = ({ results, total, hasMore }: Page) => ({
  results: results.map(({ id, version, data }) => [id, version, data]),
  total,
  hasMore,
})

verifies('slices.background', 'a list that is read in slices is the list that is read at once, page by page', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const ledger = ledgerOf(given)
      const query = queryOf(ledger, given)
      let cursor: string | null = null
      do {
        const page: Query = cursor === null ? query : { ...query, offset: 0, cursor }
        const atOnce = find(ledger.reader(), page)
        const inSlices = driven(findInSlices(ledger.reader(), page, SIZES))
        expect(inSlices).toEqual(atOnce)
        expect(driven(findInSlices(ledger.reader({ budget: slow() }), page, SIZES))).toEqual(atOnce)
        cursor = atOnce.cursor
      } while (cursor !== null)
      expect(driven(countInSlices(ledger.reader(), query))).toBe(count(ledger.reader(), query))
    }),
    { numRuns: RUNS },
  )
})

verifies('slices.background', 'what is written between two slices is not in the list', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const ledger = ledgerOf(given)
      const query = queryOf(ledger, given)
      const before = shown(find(ledger.reader(), query))

      const page = driven(findInSlices(ledger.reader(), query, SIZES), (step) => {
        const next = given.changes[step]
        if (!next) return
        const id = `thing_${next.at}`
        if (next.to !== null || next.at < given.documents.length) ledger.put('Thing', id, next.to)
      })

      expect(shown(page)).toEqual(before)
    }),
    { numRuns: RUNS },
  )
})

/** Answers that are kept until something is written, as the engine keeps them. */
function keeping() {
  const kept = new Map<string, unknown>()
  const answers = (kind: string) => ({
    get: (key: string) => kept.get(`${kind} ${key}`) as never,
    set: (key: string, _: readonly string[], answer: unknown) => void kept.set(`${kind} ${key}`, answer),
  })
  return { kept, more: { totals: answers('total'), orders: answers('order') } }
}

/** Three readers of one filter, each with an order and pages of its own. */
const readers = fc.tuple(
  ...[['note'], ['-note'], ['-score', 'name']].map((sort) =>
    fc.record({ sort: fc.constant(sort), limit: fc.integer({ min: 1, max: 4 }), total: fc.boolean() }),
  ),
)
/** A reader turns a page or asks for its first one again, or an entity is written: often the one that a page ended with. */
const step = fc.record({
  what: fc.constantFrom('turn', 'turn', 'turn', 'begin', 'write'),
  reader: fc.nat(2),
  sliced: fc.boolean(),
  at: fc.option(fc.nat(30)),
  to: document,
})

verifies('slices.background', 'pages of an order that is kept are those that are sorted for, also after writes', () => {
  const documents = fc.array(document, { minLength: 10, maxLength: 30 })
  const steps = fc.array(step, { minLength: 10, maxLength: 40 })
  const given = fc.record({ documents, filter, readers, steps })
  fc.assert(
    fc.property(given, ({ documents, filter, readers, steps }) => {
      const ledger = ledgerOf({ documents })
      const { kept, more } = keeping()
      const sizes = { ...SIZES, kept: 8 }
      const walks = readers.map((way) => ({
        query: queryOf(ledger, { ...way, filter, offset: 0 }),
        last: '',
        cursor: '',
      }))
      for (const { what, reader: which, sliced, at, to } of steps) {
        const walk = walks[which]!
        if (what === 'write') {
          ledger.put('Thing', at === null && walk.last ? walk.last : `thing_${at ?? 0}`, to)
          kept.clear()
          continue
        }
        const query = what === 'turn' && walk.cursor ? { ...walk.query, cursor: walk.cursor } : walk.query
        const reader = ledger.reader(more)
        const page = sliced ? driven(findInSlices(reader, query, sizes)) : find(reader, query)
        expect(page).toEqual(find(ledger.reader(), query))
        if (what === 'turn') Object.assign(walk, { last: page.results.at(-1)?.id ?? '', cursor: page.cursor ?? '' })
      }
    }),
    { numRuns: RUNS * 2 },
  )
})

verifies('slices.background', 'the next page of an order without an index is read and not sorted for again', () => {
  const ledger = new Ledger(nounsOf([Thing]))
  for (let i = 0; i < 40; i++) ledger.put('Thing', `thing_${i}`, { name: 'ada', note: `x${i % 7}` })
  const query = { type: 'Thing', sort: parseSort('note', Thing, ledger.nouns), limit: 5 }
  const { more } = keeping()
  const sizes = { ...SIZES, kept: 20 }
  const first = driven(findInSlices(ledger.reader(more), query, sizes))
  let steps = 0

  const next = driven(findInSlices(ledger.reader(more), { ...query, cursor: first.cursor }, sizes), () => steps++)

  expect(next).toEqual(find(ledger.reader(), { ...query, cursor: first.cursor }))
  expect(steps).toBe(0)
})

const asked = fc.constantFrom<Aggregation>(
  {},
  { sum: ['score'], avg: ['score'], min: ['score', 'name'], max: ['name', 'mixed', '$createdAt'] },
  { group: ['stage'], avg: ['score'], sum: ['score'], min: ['mixed'] },
  { group: ['stage', 'name'], max: ['score'] },
  { group: ['mixed'] },
)
const mixed = fc.constantFrom('a', 'b', '\u{1f600}', '\uffee', 1, 2, true, null)

/** Groups of one size come in any order. */
function inOrder({ results, total }: Groups) {
  return { total, results: results.map((group) => JSON.stringify(group)).sort() }
}

verifies('slices.background', 'groups that are measured in slices are those measured at once, as of the start', () => {
  fc.assert(
    fc.property(cases, fc.array(mixed, { minLength: 1, maxLength: 7 }), asked, (given, values, aggregation) => {
      const documents = given.documents.map((one, i) => ({ ...one, mixed: values[i % values.length]! }))
      const ledger = ledgerOf({ ...given, documents })
      const question = { ...aggregation, filter: ledger.filter('Thing', given.filter) }
      const atOnce = aggregate(ledger.reader(), Thing, question)

      const inSlices = driven(aggregateInSlices(ledger.reader(), Thing, question, SIZES), (step) => {
        const next = given.changes[step]
        if (next && next.at < documents.length) ledger.put('Thing', `thing_${next.at}`, next.to)
      })

      expect(inOrder(inSlices)).toEqual(inOrder(atOnce))
    }),
    { numRuns: RUNS },
  )
})

verifies('slices.background', 'rows that take long to test are tested one at a time', () => {
  const documents = Array.from({ length: 40 }, (_, i) => ({ name: 'ada', note: `x${i % 3}` }))
  const ledger = ledgerOf({ documents })
  const filter = ledger.filter('Thing', { note: { $regex: '^x1' } })
  const question = { group: ['note'], filter }
  const query = { type: 'Thing', filter, limit: 100 }
  const steps = { list: 0, groups: 0 }

  const page = driven(findInSlices(ledger.reader({ budget: slow() }), query), () => steps.list++)
  const reader = ledger.reader({ budget: slow() })
  const groups = driven(aggregateInSlices(reader, Thing, question), () => steps.groups++)

  expect(page).toEqual(find(ledger.reader(), query))
  expect(groups).toEqual(aggregate(ledger.reader(), Thing, question))
  expect(steps.list).toBeGreaterThanOrEqual(13)
  expect(steps.groups).toBeGreaterThanOrEqual(13)
})
