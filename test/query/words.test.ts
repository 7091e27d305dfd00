import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indexText } from '../../packages/tenant/src/query/words/text-index.ts'
import { ask, ids, NOUNS, opened } from './people.ts'

const WORDS = ['ada', 'bob', 'cleo']
const step = fc.record({
  type: fc.constantFrom('Person', 'Person', 'Event'),
  who: fc.nat(2),
  words: fc.option(fc.subarray(WORDS), { nil: null }),
  /** How many events are folded into the index before it. */
  folded: fc.nat(3),
})

test('a word finds what has it now, whatever was folded when', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const ledger = opened()
      const now = new Map<string, string[]>()
      for (const [i, { type, who, words, folded }] of steps.entries()) {
        if (folded > 0) indexText(ledger.sql, NOUNS, folded)
        const id = type === 'Event' ? `event_x${i}` : `person_${who}`
        if (words === null && !now.has(id)) continue
        ledger.put(type, id, words && { name: words.join(' '), ...(type === 'Event' && { type: 'track' }) })
        if (words) now.set(id, words)
        else now.delete(id)
      }

      for (const word of WORDS) {
        const having = [...now].filter(([, words]) => words.includes(word)).map(([id]) => id)
        for (const order of [undefined, 'name']) {
          const found = ['Person', 'Event'].flatMap((type) =>
            ids(ask(ledger, type, { $text: word }, order === undefined ? {} : { order })),
          )
          expect(found.sort()).toEqual(having.sort())
        }
      }
    }),
  )
})

test.each([
  ['under a condition beside it', { $and: [{ $text: 'zed' }, { age: 1 }] }],
  ['among many that are new', { $text: 'zed' }],
])('what was just written is found %s', (_, filter) => {
  const ledger = opened()
  for (let i = 0; i < 1_001; i++) ledger.put('Person', `person_${i}`, { name: 'Ada' })
  ledger.put('Person', 'person_z', { name: 'Zed', age: 1 })

  expect(ids(ask(ledger, 'Person', filter))).toEqual(['person_z'])
})

test('a word is found in a string, a choice, free JSON and a field that is not declared; not in an id, a time or a secret', () => {
  const ledger = opened()
  ledger.put('Company', 'company_quince', { name: 'Plum' })
  ledger.put('Person', 'person_1', {
    name: 'Apple',
    level: 'High',
    notes: { deep: ['Cherry'] },
    nickname: 'Damson',
    company: 'company_quince',
    seen: '2026-01-01T00:00:00.000Z',
    secret: 'elder',
  })
  const words = ['apple', 'high', 'cherry', 'damson', 'quince', 'company', '2026', 'elder', 'plum']

  expect(words.filter((word) => ids(ask(ledger, 'Person', { $text: word })).length > 0)).toEqual([
    'apple',
    'high',
    'cherry',
    'damson',
  ])
})
