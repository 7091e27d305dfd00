import { describe, expect, test } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { parseFields } from '../../packages/tenant/src/query/parameters/fields.ts'
import { beginMergeOfAll, indexText, mergeText, setMerging } from '../../packages/tenant/src/query/words/text-index.ts'
import { verifies } from '../verifies.ts'
import type { Ledger } from './ledger.ts'
import { ask, ids, NOUNS, opened, Person } from './people.ts'

describe('$text', () => {
  function library(): Ledger {
    const ledger = opened()
    ledger.put('Person', 'person_1', { name: 'Ada Lovelace', notes: { city: 'London', tags: ['poetical science'] } })
    ledger.put('Person', 'person_2', { name: 'Éva Székely', level: 'High', email: 'eva@foo-bar.hu' })
    ledger.put('Person', 'person_3', { name: 'Adam Ada Ada', secret: 'hidden' })
    ledger.put('Company', 'company_1', { name: 'Ada Ltd' })
    return ledger
  }

  verifies(
    ['filter.text', 'text.words', 'list.text.relevance', 'text.order'],
    'every word must match as a prefix, best match first',
    () => {
      const ledger = library()

      expect(ids(ask(ledger, 'Person', { $text: 'ada' }))).toEqual(['person_3', 'person_1'])
      expect(ids(ask(ledger, 'Person', { $text: 'LOVE poet' }))).toEqual(['person_1'])
      expect(ids(ask(ledger, 'Person', { $text: 'eva' }))).toEqual(['person_2'])
      expect(ids(ask(ledger, 'Person', { $text: 'foo-ba' }))).toEqual(['person_2'])
      expect(ids(ask(ledger, 'Person', { $text: 'oo-bar' }))).toEqual([])
      expect(ids(ask(ledger, 'Person', { $text: { $search: 'lon' } }))).toEqual(['person_1'])
    },
  )

  test.each([
    '"',
    '"ada" OR',
    'NOT',
    'words:ada',
    '*',
    'a*',
    '^ada',
    '(',
    'NEAR(a b)',
    '-',
    '\u0000',
    'ada"*"',
    'a"b',
    'a\u0000b',
  ])('the words %j are words, never syntax', (words) => {
    expect(() => ask(library(), 'Person', { $text: words })).not.toThrow()
  })

  test('words without a letter are ignored next to others and match nothing alone', () => {
    expect(ids(ask(library(), 'Person', { $text: 'ada - !' }))).toEqual(['person_3', 'person_1'])
    expect(ask(library(), 'Person', { $text: '--' }).total).toBe(0)
  })

  verifies('text.combined', '$text combines with other conditions, an order and a cursor', () => {
    const ledger = library()
    const first = ask(ledger, 'Person', { $text: 'ada' }, { limit: 1 })
    ledger.put('Person', 'person_4', { name: 'Ada' })
    const second = ask(ledger, 'Person', { $text: 'ada' }, { limit: 1, cursor: first.cursor })

    expect(ids(ask(ledger, 'Person', { $text: 'ada', 'notes.city': 'London' }))).toEqual(['person_1'])
    expect(ids(ask(ledger, 'Person', { $and: [{ $text: 'ada' }, { name: { $regex: '^Adam' } }] }))).toEqual([
      'person_3',
    ])
    expect(ids(ask(ledger, 'Person', { $text: 'ada' }, { order: 'name' }))).toEqual([
      'person_4',
      'person_1',
      'person_3',
    ])
    expect([...ids(first), ...ids(second)]).toEqual(['person_3', 'person_1'])
  })

  test('the text index follows changes and deletions, however few events are folded at a time', () => {
    const ledger = library()
    ledger.put('Person', 'person_1', { name: 'Augusta' })
    ledger.put('Person', 'person_3', null)
    while (!indexText(ledger.sql, NOUNS, 2));

    expect(ask(ledger, 'Person', { $text: 'ada' }).total).toBe(0)
    expect(ids(ask(ledger, 'Person', { $text: 'aug' }))).toEqual(['person_1'])
  })

  verifies('slices.text', 'parts of the index are merged in steps, and the same is found', () => {
    const ledger = opened()
    setMerging(ledger.sql)
    const people = Array.from({ length: 200 }, (_, i) => `person_${i}`)
    const index = () => {
      while (!indexText(ledger.sql, NOUNS, 20));
    }
    for (const name of ['first', 'second', 'third']) {
      for (const [i, id] of people.entries()) ledger.put('Person', id, { name: `${name} n${i}` })
      index()
    }
    const parts = () => ledger.sql.rows('SELECT count(DISTINCT segid) FROM text_idx')[0]![0]
    const found = () => [
      ask(ledger, 'Person', { $text: 'second' }).total,
      ask(ledger, 'Person', { $text: 'third' }).total,
      ids(ask(ledger, 'Person', { $text: 'third n199' })),
    ]
    const before = found()

    const many = parts()
    expect(many).toBeGreaterThan(4)
    while (!mergeText(ledger.sql));
    expect(parts()).toBeLessThan(many)
    beginMergeOfAll(ledger.sql)
    while (!mergeText(ledger.sql));
    expect(parts()).toBe(1)
    expect(found()).toEqual(before)
    expect(before).toEqual([0, 200, ['person_199']])
    expect(ledger.sql.rows(`SELECT v FROM text_config WHERE k = 'deletemerge'`)).toEqual([[0]])
  })

  test('looks its words up once, whatever else is tested in memory', () => {
    const ledger = opened()
    for (let i = 0; i < 3_500; i++) ledger.put('Person', `person_${i}`, { name: `tea ${i}`, age: i % 2 })
    while (!indexText(ledger.sql, NOUNS));
    const { sql, texts } = ledger.watched()
    const filter = ledger.filter('Person', { $text: 'tea', name: { $regex: '[13][0-9]9$' } })

    const { total } = find(ledger.reader({ sql }), { type: 'Person', filter })

    expect(total).toBe(80)
    expect(texts.filter((text) => text.includes('MATCH'))).toHaveLength(2)
  })

  test.each(['createdAt', '-createdAt'])('in the order of %s, pages with a pattern reach every match once', (order) => {
    const ledger = opened()
    for (let i = 0; i < 2_500; i++) ledger.put('Person', `person_${i}`, { name: `tea ${i}` })
    while (!indexText(ledger.sql, NOUNS));
    const filter = { $text: 'tea', name: { $regex: '9$' } }
    const reached: string[] = []
    for (let cursor: string | null = null, more = true; more; ) {
      const page = ask(ledger, 'Person', filter, { order, limit: 20, total: false, ...(cursor && { cursor }) })
      reached.push(...ids(page))
      cursor = page.cursor
      more = page.hasMore
    }

    expect([reached.length, new Set(reached).size]).toEqual([250, 250])
  })

  verifies(['text.asOf', 'secret.filter'], '$text refuses asOf, and never finds a secret', () => {
    const ledger = library()

    expect(() => ask(ledger, 'Person', { $text: 'ada' }, { asOf: 2 })).toThrow(
      expect.objectContaining({ code: 'invalid_filter' }),
    )
    expect(ask(ledger, 'Person', { $text: 'hidden' }).total).toBe(0)
    for (const name of ['secret', 'company.key', 'secret.x']) {
      expect(() => ask(ledger, 'Person', { [name]: 'hidden' })).toThrow(
        expect.objectContaining({ code: 'invalid_filter' }),
      )
    }
    expect(() => ask(ledger, 'Person', {}, { order: 'secret' })).toThrow(
      expect.objectContaining({ code: 'invalid_sort' }),
    )
    expect(() => parseFields('name,secret', Person)).toThrow(expect.objectContaining({ code: 'invalid_fields' }))
  })
})
