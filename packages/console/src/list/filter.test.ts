import { catalogue, type Json } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { type Condition, conditionsOf, queryOf, refield } from './filter.ts'

const Deal = catalogue.Deal as unknown as Noun

test.each<[string, Condition[], Json]>([
  ['equality is the plain value', [{ field: 'stage', operator: '$eq', value: 'Won' }], { stage: 'Won' }],
  ['numbers are numbers', [{ field: 'value', operator: '$gte', value: '20000' }], { value: { $gte: 20_000 } }],
  ['digits in a text stay a text', [{ field: 'name', operator: '$eq', value: '7' }], { name: '7' }],
  [
    'lists are split at commas',
    [{ field: 'stage', operator: '$in', value: 'Won, Lost' }],
    { stage: { $in: ['Won', 'Lost'] } },
  ],
  ['emptiness takes no value', [{ field: 'owner', operator: 'missing', value: '' }], { owner: { $exists: false } }],
  ['half a condition is none', [{ field: 'stage', operator: '$eq', value: '' }], {}],
  [
    'two conditions on a field do not hide each other',
    [
      { field: 'value', operator: '$gte', value: '1' },
      { field: 'value', operator: '$lt', value: '9' },
    ],
    { $and: [{ value: { $gte: 1 } }, { value: { $lt: 9 } }] },
  ],
])('%s', (_, conditions, query) => {
  expect(queryOf(conditions, Deal)).toEqual(query)
})

test.each<[Json]>([
  [{ stage: 'Won' }],
  [{ value: { $gte: 20_000 }, owner: { $exists: true } }],
  [{ $and: [{ value: { $gte: 1 } }, { value: { $lt: 9 } }] }],
  [{ stage: { $nin: ['Won', 'Lost'] } }],
])('the builder shows %j and makes the same of it', (query) => {
  expect(queryOf(conditionsOf(query)!, Deal)).toEqual(query)
})

test.each<[Json]>([[{ $or: [{ stage: 'Won' }] }], [{ value: { $gt: 1, $lt: 3 } }], [{ value: { $not: { $gt: 1 } } }]])(
  'the builder does not pretend to show %j',
  (query) => {
    expect(conditionsOf(query)).toBeNull()
  },
)

test.each([
  ['stays when it fits', '$gte', 'number', '$gte'],
  ['becomes equality when it does not', '$gte', 'enum', '$eq'],
  ['becomes equality for a relation', '$regex', 'forward', '$eq'],
] as const)('the operator of a condition on another field %s', (_, operator, kind, expected) => {
  expect(refield({ field: 'value', operator, value: '7' }, 'other', kind)).toEqual({
    field: 'other',
    operator: expected,
    value: '',
  })
})
