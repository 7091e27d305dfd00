import type { Filter, JsonObject } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { aggregate } from '../../packages/tenant/src/query/answer/aggregate.ts'
import { find, get } from '../../packages/tenant/src/query/answer/find.ts'
import { ids, opened, Person } from './people.ts'

describe('narrowing', () => {
  test('a narrowing that only memory can test holds everywhere too', () => {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One' })
    ledger.put('Company', 'company_2', { name: 'Two' })
    for (let i = 0; i < 300; i++) {
      ledger.put('Person', `person_${i}`, { name: i % 2 ? 'Ada' : 'Bob', company: 'company_1', age: i })
    }
    ledger.put('Person', 'person_x', { name: 'Ada', company: 'company_2' })
    const rows: { readonly [type: string]: object } = {
      Person: { name: { $regex: '^A' } },
      Company: { $or: Array.from({ length: 30 }, (_, i) => ({ name: `One${i || ''}` })) },
    }
    const narrow = (type: string) => (rows[type] ? ledger.filter(type, rows[type]) : null)
    const reader = ledger.reader({ narrow })
    const { people } = get(reader, 'Company', 'company_1', { include: ['people'] })!.extra as { people: JsonObject[] }

    expect(find(reader, { type: 'Person' }).total).toBe(151)
    expect(find(reader, { type: 'Company' }).total).toBe(1)
    expect([people.length, people[0]!.age, people.every((one) => one.name === 'Ada')]).toEqual([100, 299, true])
    expect(find(reader, { type: 'Company', filter: ledger.filter('Company', { 'people.age': 2 }) }).total).toBe(0)
    expect(find(reader, { type: 'Person', filter: ledger.filter('Person', { 'company.name': 'Two' }) }).total).toBe(0)
    expect(get(reader, 'Person', 'person_x', { include: ['company'] })!.extra).toEqual({ company: null })
    expect(() => aggregate(reader, Person, { group: ['company.name'] })).toThrow(
      expect.objectContaining({ code: 'invalid_group' }),
    )
  })

  test('rows that a reader may not see are not there, not through relations either', () => {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One', industry: 'tech' })
    ledger.put('Company', 'company_2', { name: 'Two', industry: 'food' })
    ledger.put('Person', 'person_1', { name: 'Ada', company: 'company_1' })
    ledger.put('Person', 'person_2', { name: 'Bob', company: 'company_2' })
    const narrow = (type: string): Filter | null =>
      type === 'Company' ? ledger.filter('Company', { industry: 'tech' }) : null
    const reader = ledger.reader({ narrow })
    const people = (filter: unknown) => ids(find(reader, { type: 'Person', filter: ledger.filter('Person', filter) }))

    expect(ids(find(reader, { type: 'Company' }))).toEqual(['company_1'])
    expect(people({ 'company.name': { $exists: true } })).toEqual(['person_1'])
    expect(people({ 'company.name': { $regex: '.' } })).toEqual(['person_1'])
    expect(people({ 'company.name': null })).toEqual(['person_2'])
    expect(
      find(reader, { type: 'Person', include: ['company'] }).results.map((row) => row.extra?.company === null),
    ).toEqual([true, false])
    expect(
      (get(reader, 'Company', 'company_1', { include: ['people'] })!.extra as { people: JsonObject[] }).people,
    ).toHaveLength(1)
  })
})
