import { comparator, type JsonObject, type Noun, noun, nounsOf, parseSort } from '@tildebase/nouns'
import fc from 'fast-check'
import { find as mingoFind } from 'mingo'
import type { AnyObject } from 'mingo/types'
import { expect } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const NOUNS = nounsOf([noun('Thing', { a: 'json', tags: 'string[]', n: 'number#' }) as unknown as Noun])
const Thing = NOUNS.get('Thing')!
const SEED = Number(process.env.TILDE_SEED ?? Date.now() % 2 ** 31)
const RUNS = Number(process.env.TILDE_RUNS ?? 8_000)

/** The ids of all documents in an order, read by the page. */
function sorted(documents: readonly JsonObject[], sort: string, limit = 100): string[] {
  const ledger = new Ledger(NOUNS)
  for (const [index, one] of documents.entries()) ledger.put('Thing', `thing_${index}`, one)
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = find(ledger.reader(), {
      type: 'Thing',
      filter: ledger.filter('Thing', {}),
      sort: parseSort(sort, Thing, NOUNS),
      limit,
      cursor,
    })
    ids.push(...page.results.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  return ids
}

verifies('mongo.sort.lists', 'a list sorts by its smallest element ascending and by its greatest descending', () => {
  const documents: JsonObject[] = [
    { tags: ['m', 'z'] },
    { tags: ['b', 'c'] },
    { tags: ['a', 'y'] },
    { tags: [] },
    {},
    { tags: ['n'] },
  ]

  expect(sorted(documents, 'tags')).toEqual(['thing_3', 'thing_4', 'thing_2', 'thing_1', 'thing_0', 'thing_5'])
  expect(sorted(documents, '-tags')).toEqual(['thing_0', 'thing_2', 'thing_5', 'thing_1', 'thing_4', 'thing_3'])
})

verifies('mongo.sort.lists', 'a path through a list sorts by the smallest or greatest value behind it', () => {
  const documents = [{ a: [{ x: 5 }, { x: 2 }] }, { a: { x: 3 } }, { a: [{ x: [9, 1] }] }, { a: [{ x: 4 }, 7] }]

  expect(sorted(documents, 'a.x')).toEqual(['thing_3', 'thing_2', 'thing_0', 'thing_1'])
  expect(sorted(documents, '-a.x')).toEqual(['thing_2', 'thing_0', 'thing_3', 'thing_1'])
  expect(sorted([{ a: [3, 1] }, { a: [2, 9] }, { a: { 0: 4 } }], 'a.0')).toEqual(['thing_1', 'thing_0', 'thing_2'])
})

const scalar = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom('', 'a', 'b', '1'),
  fc.constant(null),
  fc.boolean(),
)
const KEYS = ['x', '0', '']
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
}))
const document = fc
  .record({
    a: fc.option(value, { nil: undefined }),
    tags: fc.option(fc.array(fc.constantFrom('', 'a', 'b', 'c'), { maxLength: 3 }), { nil: undefined }),
    n: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  })
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)
const key = fc
  .tuple(fc.constantFrom('', '-'), fc.constantFrom('a', 'tags', 'n', 'a.x', 'a.0', 'a.x.0', 'a.0.x', 'a.', 'a.x.x.0.x'))
  .map((parts) => parts.join(''))

verifies('mongo.sort.lists', `memory and SQL put lists in one order, page by page (seed ${SEED})`, () => {
  fc.assert(
    fc.property(
      fc.array(document, { minLength: 1, maxLength: 12 }),
      fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
      (documents, keys) => {
        const sort = keys.join(',')
        const inOrder = documents
          .map((entity, index) => ({ n: index + 1, entity }))
          .sort(comparator(parseSort(sort, Thing, NOUNS)))
          .map(({ n }) => `thing_${n - 1}`)

        expect(sorted(documents, sort), sort).toEqual(inOrder)
        expect(sorted(documents, sort, 2), sort).toEqual(inOrder)
      },
    ),
    { numRuns: Math.ceil(RUNS / 100), seed: SEED },
  )
})

// mingo is asked where it is as MongoDB: ascending, since it takes the smallest element descending too, and of lists whose
// smallest elements differ, since it continues to compare the next ones.
verifies('mongo.sort.lists', `mingo puts lists of texts in the same order, ascending (seed ${SEED})`, () => {
  const tags = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 3 })
  const apart = fc.uniqueArray(tags, { minLength: 1, maxLength: 6, selector: (list) => list.toSorted()[0] })
  fc.assert(
    fc.property(apart, (lists) => {
      const documents = lists.map((one, index) => ({ tags: one, _id: `thing_${index}` }))
      const mingo = mingoFind<AnyObject>(documents as AnyObject[], {}).sort({ tags: 1 })

      expect(sorted(documents, 'tags')).toEqual(mingo.all().map(({ _id }) => _id))
    }),
    { numRuns: 50, seed: SEED },
  )
})
