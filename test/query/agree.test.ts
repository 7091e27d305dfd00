import { type Filter, isIndex, type Json, type JsonObject, match, type Noun, noun, nounsOf } from '@tildebase/nouns'
import fc from 'fast-check'
import { Query } from 'mingo'
import type { AnyObject } from 'mingo/types'
import { expect } from 'vitest'
import { count, find } from '../../packages/tenant/src/query/answer/find.ts'
import { regexTest } from '../../packages/tenant/src/query/words/regex.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const Thing = noun('Thing', {
  a: 'json',
  b: 'string#',
  c: 'number#',
  d: 'boolean',
  tags: 'string[]',
}) as unknown as Noun
const RUNS = Number(process.env.TILDE_RUNS ?? 8_000)
const SEED = Number(process.env.TILDE_SEED ?? Date.now() % 2 ** 31)

const TEXTS = [
  '',
  'a',
  'b',
  'aa',
  'A',
  'é',
  '😀',
  '\uffff',
  '1',
  'true',
  'null',
  '[1]',
  '{"x":1}',
  "o'x",
  '"',
  '\\',
  '%',
  '\u0000z',
]
const NUMBERS = [0, 1, -1, 1.5, 2, 10, 2 ** 53, 9223372036854775000, 1e21, 1e-7, -0.1]
const scalar = fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...NUMBERS), fc.boolean(), fc.constant(null))
const KEYS = ['x', 'y', '0', '1', 'a b', 'q"', '']
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 3, noNullPrototype: true }),
}))
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const document = fc
  .record({
    a: optional(value),
    b: optional(fc.oneof(fc.constantFrom(...TEXTS), fc.constant(null))),
    c: optional(fc.oneof(fc.constantFrom(...NUMBERS), fc.constant(null))),
    d: optional(fc.oneof(fc.boolean(), fc.constant(null))),
    tags: optional(fc.oneof(fc.array(fc.constantFrom(...TEXTS), { maxLength: 3 }), fc.constant(null))),
    z: optional(value),
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as JsonObject)

const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'tags', 'z') },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('a', 'z'), fc.constantFrom(...KEYS)).map((steps) => steps.join('.')),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'z'), fc.constantFrom(...KEYS), fc.constantFrom(...KEYS))
      .map((steps) => steps.join('.')),
  },
)
const comparable = scalar.filter((one) => one !== null)
const operator = fc.oneof(
  value.map((one) => ({ $eq: one })),
  value.map((one) => ({ $ne: one })),
  fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), comparable).map(([name, one]) => ({ [name]: one })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), fc.array(value, { maxLength: 3 }))
    .map(([name, list]) => ({ [name]: list })),
  fc
    .tuple(
      fc.constantFrom('$in', '$nin'),
      fc.array(fc.oneof({ weight: 5, arbitrary: scalar }, value), { maxLength: 4 }),
    )
    .map(([name, list]) => ({ [name]: list })),
  fc.boolean().map((one) => ({ $exists: one })),
  fc.constantFrom('a', '^a', 'A|b', '.', '^$').map((pattern) => ({ $regex: pattern })),
)
const condition = fc.oneof(
  scalar,
  operator,
  fc.tuple(operator, operator).map(([one, two]) => ({ ...one, ...two })),
  operator.map((one) => ({ $not: one })),
)
const leaf = fc.tuple(field, condition).map(([name, one]) => ({ [name]: one }))
const filter = fc.letrec((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    leaf,
    leaf,
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($and) => ({ $and })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
    fc.tuple(leaf, leaf).map(([one, two]) => ({ ...one, ...two })),
  ),
})).filter

verifies(
  ['filter.sql', 'list.total'],
  `memory, SQL within a Durable Object's limits and mingo agree (seed ${SEED})`,
  () => {
    fc.assert(
      fc.property(
        fc.array(document, { minLength: 20, maxLength: 20 }),
        fc.array(filter, { minLength: 20, maxLength: 20 }),
        (documents, filters) => {
          const ledger = new Ledger(nounsOf([Thing]))
          for (const [index, one] of documents.entries()) ledger.put('Thing', `thing_${index}`, one)
          for (const json of filters) {
            const tree = ledger.filter('Thing', json)
            const expected = documents.flatMap((one, index) =>
              match(tree, one, () => [], regexTest) ? [`thing_${index}`] : [],
            )
            const page = find(ledger.reader(), { type: 'Thing', filter: tree, limit: 100 })
            const about = JSON.stringify({ json, documents })

            expect(page.results.map((row) => row.id).reverse(), about).toEqual(expected)
            expect(page.total, about).toBe(expected.length)
            expect(count(ledger.reader(), { type: 'Thing', filter: tree }), about).toBe(expected.length)
            for (const id of isMongos(tree) ? idsFor(tree, documents) : []) {
              const mingo = new Query(json as object).test(documents[Number(id.slice(6))] as AnyObject)
              expect([id, mingo], about).toEqual([id, expected.includes(id)])
            }
          }
        },
      ),
      { numRuns: Math.ceil(RUNS / 400), seed: SEED },
    )
  },
)

/** Whether mingo is asked for its opinion: not where D5 departs from MongoDB, nor where mingo itself does. */
function isMongos(tree: Filter): boolean {
  if (!('path' in tree)) return tree.op === 'not' ? isMongos(tree.of) : tree.op !== 'text' && tree.of.every(isMongos)
  if (tree.op === 'exists' || tree.path.into.some(isIndex)) return false
  if (tree.op === 'regex') return true
  const operands = tree.op === 'in' ? (tree.value as readonly Json[]) : [tree.value]
  // mingo compares no whole list but for equality.
  if (tree.op !== 'eq' && operands.some((one) => Array.isArray(one))) return false
  // mingo compares UTF-16 units.
  if (typeof tree.value === 'string' && tree.op !== 'eq' && /[\ud800-\uffff]/.test(tree.value)) return false
  return tree.path.into.length === 0 || !operands.includes(null)
}

/** The documents that mingo is asked about: it goes astray in a list in a list, and on a way into JSON in any list. */
function idsFor(tree: Filter, documents: readonly JsonObject[]): string[] {
  const listless = goesInto(tree)
  return documents.flatMap((one, index) => {
    const json = { a: one.a ?? null, z: one.z ?? null }
    return (listless ? hasList(json) : hasListInList(json)) ? [] : [`thing_${index}`]
  })
}

function goesInto(tree: Filter): boolean {
  if ('path' in tree) return tree.path.into.length > 0
  return tree.op === 'not' ? goesInto(tree.of) : tree.op !== 'text' && tree.of.some(goesInto)
}

function hasList(value: Json): boolean {
  return Array.isArray(value) || (typeof value === 'object' && value !== null && Object.values(value).some(hasList))
}

function hasListInList(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((one) => (Array.isArray(value) && Array.isArray(one)) || hasListInList(one))
}
