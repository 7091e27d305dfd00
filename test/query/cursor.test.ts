import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCursor, writeCursor } from '../../packages/tenant/src/query/answer/cursor.ts'
import type { Page } from '../../packages/tenant/src/query/answer/find.ts'
import { verifies } from '../verifies.ts'
import type { Ledger } from './ledger.ts'
import { ask, ids, opened } from './people.ts'

describe('cursors', () => {
  function five(): Ledger {
    const ledger = opened()
    for (let i = 0; i < 5; i++)
      ledger.put('Person', `person_${i}`, { name: 'P', age: i % 2, seen: '2026-01-01T00:00:00.000Z' })
    return ledger
  }

  verifies('cursor.mismatch', 'a cursor belongs to one filter, sort, type and moment', () => {
    const ledger = five()
    const { cursor } = ask(ledger, 'Person', { name: 'P' }, { limit: 2, order: 'age' })
    const refused = expect.objectContaining({ code: 'invalid_cursor' })

    expect(() => ask(ledger, 'Person', { name: 'Q' }, { cursor, order: 'age' })).toThrow(refused)
    expect(() => ask(ledger, 'Person', { name: 'P' }, { cursor })).toThrow(refused)
    expect(() => ask(ledger, 'Person', { name: 'P' }, { cursor, order: '-age' })).toThrow(refused)
    expect(() => ask(ledger, 'Person', { name: 'P' }, { cursor, order: 'age', asOf: 3 })).toThrow(refused)
    expect(() => ask(ledger, 'Company', { name: 'P' }, { cursor })).toThrow(refused)
  })

  test.each(['', 'x', '!!', 'bnVsbA', 'W10', 'e30', 'WzFd', '\u0000', 'ÿ', 'A'.repeat(99)])(
    'the cursor %j is refused, or ignored when empty',
    (cursor) => {
      if (cursor === '') expect(ask(five(), 'Person', {}, { cursor }).results).toHaveLength(5)
      else
        expect(() => ask(five(), 'Person', {}, { cursor })).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
    },
  )

  verifies('cursor.stable', 'rows inserted during a walk neither repeat nor hide others', () => {
    const ledger = five()
    const seen: string[] = []
    let cursor: string | null = null
    for (let step = 0; step === 0 || cursor !== null; step++) {
      const page: Page = ask(ledger, 'Person', {}, { limit: 2, cursor, order: '-age' })
      seen.push(...ids(page))
      cursor = page.cursor
      ledger.put('Person', `person_new${step}`, { name: 'N', age: 5 })
    }

    expect(seen).toEqual(['person_3', 'person_1', 'person_4', 'person_2', 'person_0'])
  })

  test('a cursor continues under an operand that moves with the time', () => {
    const ledger = five()
    const first = ask(ledger, 'Person', { $createdAt: { $gt: '7d ago' } }, { limit: 3 })
    ledger.now += 60_000
    const second = ask(ledger, 'Person', { $createdAt: { $gt: '7d ago' } }, { limit: 3, cursor: first.cursor })

    expect([...ids(first), ...ids(second)]).toHaveLength(5)
  })

  const value = fc.oneof(
    fc.constant(null),
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  const place = fc.tuple(fc.nat(), fc.array(value)).map(([n, values]) => [n, ...values] as const)

  test('a cursor gives back the place it was written for, whatever its values, and can be in a URL', () => {
    fc.assert(
      fc.property(place, (at) => {
        const cursor = writeCursor('question', at)

        expect(cursor).toMatch(/^[\w-]+$/)
        expect(readCursor('question', cursor, at.length - 1)).toEqual(JSON.parse(JSON.stringify(at)))
      }),
    )
  })

  test('a cursor with too many or too few values, or without a place, is refused', () => {
    const refused = expect.objectContaining({ code: 'invalid_cursor' })
    const read = (at: unknown) => () => readCursor('question', writeCursor('question', at as never), 1)

    expect(read([1, 'a'])()).toEqual([1, 'a'])
    for (const at of [[1], [1, 'a', 'b'], ['1', 'a'], [1.5, 'a'], [null, 'a'], [1, {}], [1, true]])
      expect(read(at)).toThrow(refused)
  })
})
