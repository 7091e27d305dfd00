import { catalogue, type Json } from '@tildebase/nouns'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstWeekday } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { type Condition, faultOf, type Group, groupOf, operatorsFor, queryOf, refield } from './filter.ts'
import { dayName, moved, PERIODS, periodOf } from './periods.ts'
import { resolved } from './resolve.ts'

const Deal = catalogue.Deal as unknown as Noun
const all = (...items: readonly (Condition | Group)[]): Group => ({ mode: 'all', items })

test.each<[string, Condition[], Json]>([
  ['equality is the plain value', [{ field: 'stage', operator: 'is', value: 'Won' }], { stage: 'Won' }],
  ['numbers are numbers', [{ field: 'value', operator: '$gte', value: '20000' }], { value: { $gte: 20_000 } }],
  ['numbers are written as people do', [{ field: 'value', operator: 'is', value: '10,000' }], { value: 10_000 }],
  ['digits in a text stay a text', [{ field: 'name', operator: 'is', value: '7' }], { name: '7' }],
  [
    'words are found anywhere and in any case, and are no pattern',
    [{ field: 'name', operator: 'contains', value: '(pilot' }],
    { name: { $regex: '\\(pilot', $options: 'i' } },
  ],
  [
    'lists are split at commas',
    [{ field: 'stage', operator: '$in', value: 'Won, Lost' }],
    { stage: { $in: ['Won', 'Lost'] } },
  ],
  ['emptiness takes no value', [{ field: 'owner', operator: 'missing', value: '' }], { owner: { $exists: false } }],
  ['half a condition is none', [{ field: 'stage', operator: 'is', value: '' }], {}],
  ['a number that is none is none', [{ field: 'value', operator: 'is', value: 'many' }], {}],
  [
    'two conditions on a field do not hide each other',
    [
      { field: 'value', operator: '$gte', value: '1' },
      { field: 'value', operator: '$lt', value: '9' },
    ],
    { $and: [{ value: { $gte: 1 } }, { value: { $lt: 9 } }] },
  ],
])('%s', (_, conditions, query) => {
  expect(queryOf(all(...conditions), Deal)).toEqual(query)
})

test.each<[Json]>([
  [{ stage: 'Won' }],
  [{ value: { $gte: 20_000 }, owner: { $exists: true } }],
  [{ $and: [{ value: { $gte: 1 } }, { value: { $lt: 9 } }] }],
  [{ stage: { $nin: ['Won', 'Lost'] } }],
  [{ $or: [{ stage: 'Won' }, { value: { $gt: 9 } }] }],
  [{ stage: 'Won', $or: [{ value: 1 }, { name: { $regex: '^a', $options: 'i' } }] }],
  [{ $updatedAt: { $during: 'last 30 days' } }],
])('the builder shows %j and makes the same of it', (query) => {
  expect(queryOf(groupOf(query, Deal)!, Deal)).toEqual(query)
})

test('every condition that can be written comes back as it was', () => {
  const fields = ['name', 'value', 'stage', 'expectedCloseDate', '$createdAt'] as const
  const condition = fc.constantFrom(...fields).chain((field) => {
    const kind = field === '$createdAt' ? 'datetime' : Deal.fields[field]!.kind
    const day = fc.integer({ min: 0, max: 20_000 }).map((days) => dayName(moved(new Date(1990, 0, 1), days)))
    return fc.constantFrom(...operatorsFor(kind)).chain(({ name: operator }) => {
      const value =
        operator === 'there' || operator === 'missing'
          ? fc.constant('')
          : operator === 'during'
            ? fc.constantFrom(...PERIODS)
            : kind === 'number'
              ? fc.integer().map(String)
              : kind === 'string'
                ? fc
                    .string({ minLength: 1 })
                    .filter((text) => text.trim() === text && text !== '' && !text.includes(','))
                : kind === 'enum'
                  ? fc.constantFrom('Won', 'Lost')
                  : day
      return value.map((text): Condition => ({ field, operator, value: text }))
    })
  })
  fc.assert(
    fc.property(condition, (one) => {
      expect(groupOf(queryOf(all(one), Deal), Deal)).toEqual(all(one))
    }),
  )
})

test.each<[Json]>([[{ value: { $gt: 1, $lt: 3 } }], [{ value: { $not: { $gt: 1 } } }], [{ name: { $regex: 'a.b' } }]])(
  'the builder does not pretend to show %j',
  (query) => {
    expect(groupOf(query, Deal)).toBeNull()
  },
)

test.each([
  ['stays when it fits', '$gte', 'number', '$gte'],
  ['becomes the first one when it does not', '$gte', 'enum', 'is'],
  ['becomes the first one for a relation', 'contains', 'forward', 'is'],
] as const)('the operator of a condition on another field %s', (_, operator, kind, expected) => {
  expect(refield({ field: 'value', operator, value: '7' }, 'other', kind)).toEqual({
    field: 'other',
    operator: expected,
    value: '',
  })
})

test('a number that cannot be read is named', () => {
  expect(faultOf({ field: 'value', operator: 'is', value: 'many' }, 'number')).toBe('Write a number.')
  expect(faultOf({ field: 'value', operator: 'is', value: '1.5' }, 'number')).toBeNull()
})

const MONDAY = 1

describe('named periods', () => {
  const now = new Date(2026, 10, 17, 15, 30)

  test.each([
    ['today', '2026-11-17', '2026-11-18'],
    ['yesterday', '2026-11-16', '2026-11-17'],
    ['last 7 days', '2026-11-11', '2026-11-18'],
    ['next 7 days', '2026-11-17', '2026-11-24'],
    ['this week', '2026-11-16', '2026-11-23'],
    ['last month', '2026-10-01', '2026-11-01'],
    ['next month', '2026-12-01', '2027-01-01'],
    ['this quarter', '2026-10-01', '2027-01-01'],
    ['last quarter', '2026-07-01', '2026-10-01'],
    ['last year', '2025-01-01', '2026-01-01'],
  ])('%s', (name, from, to) => {
    const period = periodOf(name, now, MONDAY)!
    expect([dayName(period.from), dayName(period.to)]).toEqual([from, to])
  })

  test.each([
    ['de', '2026-11-16'],
    ['en-US', '2026-11-15'],
    ['he', '2026-11-15'],
    ['ar-EG', '2026-11-14'],
  ])('a week begins as %s has it', (locale, from) => {
    expect(dayName(periodOf('this week', now, firstWeekday(locale))!.from)).toBe(from)
  })

  test('are days in a field of days, and moments in others', () => {
    expect(resolved({ expectedCloseDate: { $during: 'today' } }, Deal, now)).toEqual({
      expectedCloseDate:
        Deal.fields.expectedCloseDate!.kind === 'date'
          ? { $gte: '2026-11-17', $lt: '2026-11-18' }
          : { $gte: new Date(2026, 10, 17).toISOString(), $lt: new Date(2026, 10, 18).toISOString() },
    })
    expect(resolved({ $or: [{ $createdAt: { $during: 'today' } }] }, Deal, now)).toEqual({
      $or: [{ $createdAt: { $gte: new Date(2026, 10, 17).toISOString(), $lt: new Date(2026, 10, 18).toISOString() } }],
    })
  })
})
