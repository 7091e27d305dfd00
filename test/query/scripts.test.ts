import { matchWords, wordsOf } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { ask, ids, opened } from './people.ts'

/** Whether one text is found by a search: by the index, and in memory. */
function finds(text: string, search: string): boolean[] {
  const ledger = opened()
  ledger.put('Person', 'person_1', { name: text })
  return [ids(ask(ledger, 'Person', { $text: search })).length === 1, matchWords(search.split(/\s+/), { name: text })]
}

test.each([
  ['isolates', '\u2066test\u2067', 'test'],
  ['isolates in the search', 'test', '\u2068test\u2069'],
  ['full width', 'ＡＢＣ商事', 'abc'],
  ['half width', 'ｶﾀｶﾅ', 'カタカナ'],
  ['a ligature', 'ﬁlm', 'film'],
  ['a ligature in the search', 'film', 'ﬁl'],
  ['a sharp s', 'Hauptstraße', 'hauptstrasse'],
  ['a sharp s in the search', 'HAUPTSTRASSE', 'hauptstraß'],
  ['a final sigma', 'ΟΔΟΣ', 'οδος'],
  ['Chinese inside a run', '東京都', '京都'],
  ['one character inside a run', '東京都', '京'],
  ['the last character of a run', '東京都', '都'],
  ['Japanese inside a run', '株式会社トヨタ自動車', 'トヨタ'],
  ['Thai inside a run', 'บริษัทกรุงเทพ', 'กรุงเทพ'],
  ['letters after a run', '東京abc', '京ab'],
  ['an accent', 'Éva', 'eva'],
])('%s: %j is found by %j', (_, text, search) => {
  expect(finds(text, search)).toEqual([true, true])
})

test.each([
  ['the characters of a run in another order', '東京都', '京東'],
  ['a voiced sound', 'ガス', 'カス'],
  ['the middle of a Latin word', 'Hauptstraße', 'strasse'],
])('%s: %j is not found by %j', (_, text, search) => {
  expect(finds(text, search)).toEqual([false, false])
})

const character = fc.constantFrom(...'東京都大阪府株式会社日本語カタカナひらがなサービスーกรงเทพมหานคร')

verifies('text.words', 'every part of two or more characters of a run without spaces is found', () => {
  const run = fc.array(character, { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(run, fc.nat(), fc.nat(), (run, from, length) => {
      const begin = from % (run.length - 1)
      const part = run.slice(begin, begin + 2 + (length % (run.length - begin - 1)))

      expect(finds(run.join(''), part.join(''))).toEqual([true, true])
    }),
  )
})

test('folding a text a second time changes nothing', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  const letters = fc.constantFrom(...'ßŒǅİıΣςﬁﬀẞÅÉがハﾞ각ⅷ①ŉǰΐﷺ')
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        fc.array(letters).map((list) => list.join('')),
      ),
      (given) => {
        const folded = wordsOf(given)

        expect(folded.flatMap((word) => wordsOf(word))).toEqual(folded)
      },
    ),
    { numRuns: 300 },
  )
})

test('words of ASCII letters and digits are as they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), (given) => {
      expect(wordsOf(given)).toEqual(given.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    }),
  )
})

test('an index that was made by older rules is made again', () => {
  const ledger = opened()
  ledger.put('Person', 'person_1', { name: '東京都' })
  ask(ledger, 'Person', { $text: '東京' })
  ledger.sql.run(`UPDATE meta SET key = 'text.seq' WHERE key = 'text.2.seq'`)
  ledger.sql.run(`INSERT INTO text (text) VALUES ('delete-all')`)
  ledger.sql.run(`INSERT INTO text (rowid, words) VALUES (1, '東京都 older')`)

  expect(ids(ask(ledger, 'Person', { $text: '京都' }))).toEqual(['person_1'])
  expect(ids(ask(ledger, 'Person', { $text: 'older' }))).toEqual([])
})
