import { match, type Noun, noun, nounsOf } from '@tildebase/nouns'
import { Query } from 'mingo'
import type { AnyObject } from 'mingo/types'
import { describe, expect, test } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { regexTest } from '../../packages/tenant/src/query/words/regex.ts'
import { FILTERS } from '../corpus/filters.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const NOUNS = nounsOf([noun('Thing', { name: 'string' }) as unknown as Noun])

describe.each(FILTERS)('$says', ({ filter, documents, found, unlikeMingo }) => {
  test('in memory', () => {
    const tree = new Ledger(NOUNS).filter('Thing', filter)

    expect(documents.flatMap((one, index) => (match(tree, one, () => [], regexTest) ? [index] : []))).toEqual(found)
  })

  test('in SQL', () => {
    const ledger = new Ledger(NOUNS)
    for (const [index, document] of documents.entries()) ledger.put('Thing', `thing_${index}`, document)
    const { results } = find(ledger.reader(), { type: 'Thing', filter: ledger.filter('Thing', filter) })

    expect(results.map((row) => row.ordinal - 1).reverse()).toEqual(found)
  })

  test(unlikeMingo ? `otherwise in mingo: ${unlikeMingo}` : 'in mingo', () => {
    const query = new Query(filter)
    const others = documents.flatMap((one, index) => (query.test(one as AnyObject) ? [index] : []))

    if (unlikeMingo) expect(others).not.toEqual(found)
    else expect(others).toEqual(found)
  })
})

verifies(
  [
    'filter.eq',
    'filter.ne',
    'filter.gt',
    'filter.lt',
    'filter.in',
    'filter.exists',
    'filter.regex',
    'filter.and',
    'filter.or',
    'filter.not',
    'filter.combine',
    'filter.fields',
    'mongo.null',
    'mongo.missing',
    'mongo.contains',
    'mongo.types',
    'mongo.boolean',
    'mongo.elements',
    'mongo.array',
    'mongo.object',
    'mongo.dotted.null',
    'mongo.index',
    'mongo.compare.lists',
    'exists.partition',
    'dotted.json',
    'regex.options',
  ],
  'the corpus has examples of every operator',
  () => {
    const written = JSON.stringify(FILTERS)

    for (const operator of [
      '$ne',
      '$gt',
      '$gte',
      '$lt',
      '$in',
      '$nin',
      '$exists',
      '$regex',
      '$options',
      '$and',
      '$or',
      '$not',
    ])
      expect(written).toContain(`"${operator}"`)
  },
)
