import { type JsonObject, type Noun, noun, nounsOf, parseSort } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect } from 'vitest'
import { count, find, type Page, type Query } from '../../packages/tenant/src/query/find.ts'
import { countInSlices, findInSlices } from '../../packages/tenant/src/query/find-in-slices.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const Thing = noun('Thing', {
  name: 'string',
  score: 'number',
  stage: 'string#',
  note: 'string',
}) as unknown as Noun
const RUNS = Number(process.env.TILDE_RUNS ?? 20_000) / 50
/** So small that a few rows are many slices. */
const SIZES = { first: 4, sorted: 3 }

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

function ledgerOf({ documents }: Case): Ledger {
  const ledger = new Ledger(nounsOf([Thing]))
  for (const [i, data] of documents.entries()) ledger.put('Thing', `thing_${i}`, data)
  return ledger
}

function queryOf(ledger: Ledger, { filter, sort, limit, offset, total }: Case): Query {
  return {
    type: 'Thing',
    filter: ledger.filter('Thing', filter),
    sort: parseSort(sort.join(','), Thing, ledger.nouns),
    limit,
    offset,
    total,
  }
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
