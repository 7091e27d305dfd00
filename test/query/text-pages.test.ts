import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Page } from '../../packages/tenant/src/query/answer/find.ts'
import { verifies } from '../verifies.ts'
import type { Ledger } from './ledger.ts'
import { ask, ids, opened } from './people.ts'

const WORDS = ['ada', 'adam', 'bell', 'code', 'data', 'east']

/** A corpus: each entry is the list of words of one person. */
const corpus = fc.array(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 60,
})

function filled(corpora: readonly (readonly string[])[]): Ledger {
  const ledger = opened()
  for (const [i, words] of corpora.entries()) ledger.put('Person', `person_${i}`, { name: words.join(' '), age: i % 3 })
  return ledger
}

/** All pages of a search, with something done after each. */
function walk(ledger: Ledger, filter: object, limit: number, between: (step: number) => void = () => {}): string[] {
  const seen: string[] = []
  let cursor: string | null = null
  for (let step = 0; step === 0 || (cursor !== null && step < 200); step++) {
    const page: Page = ask(ledger, 'Person', filter, { limit, cursor })
    seen.push(...ids(page))
    cursor = page.cursor
    expect(page.hasMore).toBe(cursor !== null)
    between(step)
  }
  return seen
}

/** A filter that SQL answers alone, one with a condition more, and one of which memory tests a part. */
const filters = fc.constantFrom(
  { $text: 'ad' },
  { $text: 'ada co' },
  { $text: 'data', age: { $gte: 1 } },
  { $text: 'ada', name: { $regex: 'code|bell' } },
)

/** What others do between two pages. */
const writes = fc.record({
  act: fc.constantFrom('insert', 'insert', 'change', 'unmatch', 'delete'),
  at: fc.nat(10_000),
  times: fc.integer({ min: 1, max: 6 }),
})

describe('pages of $text', () => {
  verifies(['text.order', 'cursor.stable'], 'pages by cursor and by offset are the whole list, cut', () => {
    fc.assert(
      fc.property(corpus, filters, fc.integer({ min: 1, max: 9 }), (corpora, filter, limit) => {
        const ledger = filled(corpora)
        const whole = ask(ledger, 'Person', filter, { limit: 100 })

        expect(walk(ledger, filter, limit)).toEqual(ids(whole))
        const offsets = Array.from({ length: Math.ceil(whole.total! / limit) }, (_, i) => i * limit)
        expect(offsets.flatMap((offset) => ids(ask(ledger, 'Person', filter, { limit, offset })))).toEqual(ids(whole))
      }),
      { numRuns: 60 },
    )
  })

  verifies('cursor.stable', 'every match is reached once while others are written', () => {
    fc.assert(
      fc.property(corpus, corpus, filters, fc.integer({ min: 1, max: 5 }), (corpora, later, filter, limit) => {
        const ledger = filled(corpora)
        const expected = ids(ask(ledger, 'Person', filter, { limit: 100 })).toSorted()
        let next = 0
        const seen = walk(ledger, filter, limit, () => {
          const texts = later.slice(next, next + 4)
          for (const words of texts) ledger.put('Person', `person_later${next++}`, { name: words.join(' '), age: 2 })
        })

        expect(seen.toSorted()).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  verifies(
    'cursor.stable',
    'beyond the matches that are ranked, every one that stays is reached once while rows come, change and go',
    () => {
      fc.assert(
        fc.property(
          fc.integer({ min: 450, max: 1_100 }),
          fc.integer({ min: 23, max: 100 }),
          fc.array(writes, { minLength: 1, maxLength: 40 }),
          fc.integer({ min: 0, max: 2 }),
          (count, limit, plan, kind) => {
            const ledger = opened()
            const texts = new Map<string, string>()
            const put = (id: string, text: string | null) => {
              ledger.put('Person', id, text === null ? null : { name: text, age: 2 })
              if (text === null) texts.delete(id)
              else texts.set(id, text)
            }
            for (let i = 0; i < count; i++) put(`person_${i}`, `ada ${'code '.repeat((i * 7) % 5)}`)
            const filter = [{ $text: 'ad' }, { $text: 'ada', age: 2 }, { $text: 'ada', name: { $regex: 'ada' } }][kind]!
            const stayed = new Set(texts.keys())

            const seen = walk(ledger, filter, limit, (step) => {
              for (const { act, at, times } of plan.filter((_, i) => i % 10 === step % 10)) {
                const id = `person_${at % count}`
                if (act === 'insert') put(`person_new${step}_${at}`, 'ada '.repeat(times))
                else if (!texts.has(id)) continue
                else if (act === 'change') put(id, `${'code '.repeat(times)} ada`)
                else if (act === 'unmatch') put(id, 'bell')
                else put(id, null)
                if (act === 'unmatch' || act === 'delete') stayed.delete(id)
              }
            })

            expect(new Set(seen).size).toBe(seen.length)
            expect(seen.filter((id) => id.startsWith('person_new'))).toEqual([])
            expect([...stayed].filter((id) => !seen.includes(id))).toEqual([])
            const offsets = Array.from({ length: Math.ceil(texts.size / limit) + 1 }, (_, i) => i * limit)
            const byOffset = offsets.flatMap((offset) => ids(ask(ledger, 'Person', filter, { limit, offset })))
            const matches = [...texts].flatMap(([id, text]) => (text.includes('ada') ? [id] : []))
            expect(byOffset.toSorted()).toEqual(matches.toSorted())
          },
        ),
        { numRuns: Number(process.env.TEXT_RUNS ?? 12) },
      )
    },
  )

  test('a walk through more matches than are ranked reaches each once, by cursor and by offset', () => {
    const ledger = opened()
    for (let i = 0; i < 1_200; i++)
      ledger.put('Person', `person_${i}`, { name: `ada ${'code '.repeat(i % 7)}`, notes: { x: 'ada '.repeat(i % 5) } })
    const all = Array.from({ length: 1_200 }, (_, i) => `person_${i}`).toSorted()

    const seen = walk(ledger, { $text: 'ada' }, 100, (step) => {
      for (let i = 0; i < 20; i++) ledger.put('Person', `person_later${step}_${i}`, { name: 'ada ada' })
    })
    expect(seen.toSorted()).toEqual(all)

    const still = opened()
    for (let i = 0; i < 1_200; i++) still.put('Person', `person_${i}`, { name: `ada ${'code '.repeat(i % 7)}` })
    const offsets = Array.from({ length: 13 }, (_, i) => i * 97)
    const byOffset = offsets.flatMap((offset) => ids(ask(still, 'Person', { $text: 'ada' }, { limit: 97, offset })))
    expect(byOffset).toEqual(walk(still, { $text: 'ada' }, 97))
    expect(byOffset.toSorted()).toEqual(all)
  })

  test('events are paged by their words too, and a spoilt cursor is refused', () => {
    const ledger = opened()
    for (let i = 0; i < 30; i++) ledger.put('Person', `person_${i}`, { name: 'ada' })
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Page = ask(ledger, 'Event', { $text: 'person' }, { limit: 4, cursor })
      seen.push(...ids(page))
      cursor = page.cursor
    } while (cursor !== null && seen.length < 100)

    expect(new Set(seen).size).toBe(30)
    expect(seen).toHaveLength(30)
    const { cursor: good } = ask(ledger, 'Person', { $text: 'ada' }, { limit: 4 })
    const [asked] = JSON.parse(atob(good!)) as [string]
    for (const place of [[1], [1, 2], [1, 2, 3], [1, 2, 'x,y'], [1, 2, '0'], [1, 'a', '1'], [1, -1, '']]) {
      const cursor = btoa(JSON.stringify([asked, ...place]))
      expect(() => ask(ledger, 'Person', { $text: 'ada' }, { cursor })).toThrow(
        expect.objectContaining({ code: 'invalid_cursor' }),
      )
    }
  })
})
