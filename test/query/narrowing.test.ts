import type { Filter, JsonObject } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { find, get } from '../../packages/tenant/src/query/find.ts'
import { ids, opened } from './people.ts'

describe('narrowing', () => {
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
