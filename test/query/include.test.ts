import type { JsonObject } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { find, get } from '../../packages/tenant/src/query/answer/find.ts'
import { includedTypes, parseInclude } from '../../packages/tenant/src/query/answer/include.ts'
import { verifies } from '../verifies.ts'
import type { Ledger } from './ledger.ts'
import { ask, NOUNS, opened, Person } from './people.ts'

describe('include', () => {
  function family(): Ledger {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One' })
    ledger.put('Company', 'company_2', { name: 'Two', parent: 'company_1' })
    ledger.put('Company', 'company_3', { name: 'Gone' })
    for (let i = 0; i < 100; i++)
      ledger.put('Person', `person_${i}`, {
        name: `P${i}`,
        company: i === 99 ? 'company_3' : `company_${1 + (i % 2)}`,
        teams: ['team_1', 'team_2'],
      })
    ledger.put('Team', 'team_1', { name: 'Red' })
    ledger.put('Team', 'team_2', { name: 'Blue' })
    ledger.put('Company', 'company_3', null)
    return ledger
  }

  verifies(
    ['include.direction', 'include.nested', 'list.include'],
    'relations of either direction are embedded, nested by dots',
    () => {
      const ledger = family()
      const [row] = ask(ledger, 'Company', { name: 'Two' }, { include: ['parent.children', 'people.teams'] }).results
      const { parent, people } = row!.extra as { parent: JsonObject; people: JsonObject[] }

      expect(parent).toMatchObject({
        $id: 'company_1',
        $type: 'Company',
        name: 'One',
        children: [{ $id: 'company_2', $version: 1 }],
      })
      expect(people).toHaveLength(49)
      expect(people[0]).toMatchObject({ name: 'P97', teams: [{ name: 'Blue' }, { name: 'Red' }] })
    },
  )

  test('a relation that leads to a deleted entity shows null, and showed the entity as of before', () => {
    const ledger = family()

    expect(get(ledger.reader(), 'Person', 'person_99', { include: ['company'] })!.extra).toEqual({ company: null })
    expect(
      get(ledger.reader(), 'Person', 'person_99', { include: ['company'], asOf: ledger.seq - 1 })!.extra,
    ).toMatchObject({ company: { name: 'Gone' } })
  })

  test('a hundred rows with three includes take four statements', () => {
    const ledger = family()
    const { sql, texts } = ledger.watched()
    const query = { type: 'Person', limit: 100, include: ['company', 'company.parent', 'teams'] }
    // The first time the numbers of the types are read as well.
    find(ledger.reader({ sql }), query)
    texts.length = 0
    const page = find(ledger.reader({ sql }), query)

    expect(page.results).toHaveLength(100)
    expect(texts).toHaveLength(4)
  })

  verifies('include.cap', 'a relation to many shows the newest hundred', () => {
    const ledger = family()
    for (let i = 100; i < 250; i++) ledger.put('Person', `person_${i}`, { name: `P${i}`, company: 'company_1' })
    const { people } = get(ledger.reader(), 'Company', 'company_1', { include: ['people'] })!.extra as {
      people: JsonObject[]
    }

    expect(people.map((one) => one.name)).toEqual(Array.from({ length: 100 }, (_, i) => `P${249 - i}`))
  })

  verifies(
    ['include.invalid', 'secret.fields'],
    'a name that is not a relation is refused with the names that are',
    () => {
      const refused = expect.objectContaining({
        code: 'invalid_include',
        about: expect.objectContaining({ supported: ['company', 'teams'] }),
      })

      expect(() => parseInclude('company,nonsense', Person, NOUNS)).toThrow(refused)
      expect(() => parseInclude('secret', Person, NOUNS)).toThrow(refused)
      expect(() => parseInclude('company.parent.parent.parent', Person, NOUNS)).toThrow(
        expect.objectContaining({ code: 'invalid_include' }),
      )
      expect(parseInclude('company.people, teams', Person, NOUNS)).toEqual(['company.people', 'teams'])
      expect([...includedTypes(['company.people', 'teams'], Person, NOUNS)]).toEqual(['Company', 'Person', 'Team'])
    },
  )
})
