import { catalogue, type Noun, nounsOf, parseSort } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import { aggregate } from '../../packages/tenant/src/query/answer/aggregate.ts'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { parseFields, project } from '../../packages/tenant/src/query/parameters/fields.ts'
import { Ledger } from './ledger.ts'
import { ask, ids, opened, Person } from './people.ts'

test('an unknown field in a sort counts as missing, and an invalid one is reported', () => {
  const ledger = opened()
  ledger.put('Person', 'person_1', { name: 'Ada' })

  expect(ids(ask(ledger, 'Person', {}, { order: 'whatever' }))).toEqual(['person_1'])
  for (const order of ['$nope', 'company.name', ',', '-'])
    expect(() => ask(ledger, 'Person', {}, { order })).toThrow(expect.objectContaining({ code: 'invalid_sort' }))
})

test('fields keep $id, $type and embedded relations', () => {
  const entity = { $id: 'a', $type: 'Person', $version: 1, name: 'Ada', email: 'x', company: { $id: 'c' } }

  expect(project(entity, parseFields('name', Person), ['company.people'])).toEqual({
    $id: 'a',
    $type: 'Person',
    name: 'Ada',
    company: { $id: 'c' },
  })
  expect(project(entity, parseFields('', Person))).toBe(entity)
  for (const bad of ['name,', '$nope', 'a.b'])
    expect(() => parseFields(bad, Person)).toThrow(expect.objectContaining({ code: 'invalid_fields' }))
})

test('entities are grouped and measured', () => {
  const ledger = opened()
  ledger.put('Company', 'company_1', { industry: 'tech' })
  for (let i = 0; i < 6; i++)
    ledger.put('Person', `person_${i}`, {
      name: `P${i}`,
      age: i,
      level: i % 3 === 0 ? 'High' : 'Low',
      ...(i < 2 && { company: 'company_1' }),
      flag: i === 5 ? 1 : i === 4,
    })

  expect(
    aggregate(ledger.reader(), Person, { group: ['level'], sum: ['age'], avg: ['age'], min: ['name'], max: ['age'] }),
  ).toEqual({
    results: [
      { level: 'Low', count: 4, sum: { age: 12 }, avg: { age: 3 }, min: { name: 'P1' }, max: { age: 5 } },
      { level: 'High', count: 2, sum: { age: 3 }, avg: { age: 1.5 }, min: { name: 'P0' }, max: { age: 3 } },
    ],
    total: 6,
  })
  expect(aggregate(ledger.reader(), Person, { group: ['company.industry'] }).results).toEqual([
    { 'company.industry': null, count: 4 },
    { 'company.industry': 'tech', count: 2 },
  ])
  expect(aggregate(ledger.reader(), Person, { group: ['flag'] }).results).toHaveLength(3)
  expect(
    aggregate(ledger.reader(), Person, { sum: ['age'], filter: ledger.filter('Person', { name: { $regex: '[45]' } }) }),
  ).toEqual({ results: [{ count: 2, sum: { age: 9 } }], total: 2 })
  expect(
    aggregate(ledger.reader(), Person, { sum: ['age'], filter: ledger.filter('Person', { name: 'nobody' }) }),
  ).toEqual({ results: [{ count: 0, sum: { age: 0 } }], total: 0 })
  expect(() => aggregate(ledger.reader(), Person, { group: ['company.people.name'] })).toThrow(
    expect.objectContaining({ code: 'invalid_group' }),
  )
})

test('every type of the catalogue can be listed, filtered and sorted by all of its fields', () => {
  const ledger = new Ledger(nounsOf(Object.values(catalogue) as unknown as Noun[]))

  for (const type of ledger.nouns.all) {
    for (const field of Object.values(type.fields)) {
      if (field.kind === 'secret') continue
      expect(
        find(ledger.reader(), { type: type.name, filter: ledger.filter(type.name, { [field.name]: null }) }).results
          .length,
      ).toBeGreaterThanOrEqual(0)
      if (field.kind !== 'back')
        expect(
          find(ledger.reader(), { type: type.name, sort: parseSort(field.name, type, ledger.nouns) }).results.length,
        ).toBeGreaterThanOrEqual(0)
    }
  }
})
