import { parseSort } from '@tildebase/nouns'
import { Budget, OPERATOR } from '@tildebase/tenant'
import { describe, expect, test } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'
import { budgetOf } from './ledger.ts'
import { ask, ids, NOUNS, opened, Person } from './people.ts'

describe('limits', () => {
  verifies('list.limit.invalid', 'a limit is a whole number from 1 to 100', () => {
    for (const limit of [0, 101, -1, 1.5, Number.NaN])
      expect(() => ask(opened(), 'Person', {}, { limit })).toThrow(expect.objectContaining({ code: 'invalid_limit' }))
  })

  test('a filter of 490 conditions is answered within the limits of a Durable Object', () => {
    const ledger = opened()
    for (let i = 0; i < 30; i++) ledger.put('Person', `person_${i}`, { name: `P${i}`, age: i, notes: { x: [i] } })
    const conditions = Array.from({ length: 245 }, (_, i) => [{ [`u${i}`]: null }, { 'notes.x': { $lt: 100 } }]).flat()
    const nested = (depth: number): object =>
      depth === 0 ? { age: 7 } : { $or: [nested(depth - 1), { $and: [{ name: 'nobody' }, { [`v${depth}`]: 1 }] }] }

    expect(ask(ledger, 'Person', { $and: conditions }).total).toBe(30)
    expect(ask(ledger, 'Person', { $or: conditions }).total).toBe(30)
    expect(ids(ask(ledger, 'Person', nested(14)))).toEqual(['person_7'])
    expect(
      ids(
        ask(ledger, 'Person', nested(14), {
          asOf: ledger.seq,
          order: 'name,-age,notes,-notes.x,level,born,seen,email',
          limit: 1,
        }),
      ),
    ).toEqual(['person_7'])
    expect(ask(ledger, 'Person', { age: { $in: Array.from({ length: 5_000 }, (_, i) => i) } }).total).toBe(30)
  })

  test('a question over its budget ends with over_budget', () => {
    const ledger = opened()
    for (let i = 0; i < 2_000; i++) ledger.put('Person', `person_${i}`, { name: 'x'.repeat(100), notes: 1 })
    const query = { type: 'Person', filter: ledger.filter('Person', { name: { $regex: 'y' } }) }

    const late = expect.objectContaining({ code: 'over_budget', about: { limit: 'time' } })
    let time = 0

    expect(() => find(ledger.reader({ budget: budgetOf(0) }), query)).toThrow(late)
    // The time is over while the rows are gone through.
    expect(() => find(ledger.reader({ budget: budgetOf(2, () => ++time) }), query)).toThrow(late)
    expect(find(ledger.reader(), query).total).toBe(0)
  })
})

describe('a pattern and a long text', () => {
  test('are refused together when the search could take seconds, and not otherwise', () => {
    const ledger = opened()
    ledger.put('Person', 'person_1', { name: 'ab'.repeat(50_000) })
    const total = (pattern: string) => ask(ledger, 'Person', { name: { $regex: pattern } }).total

    expect(() => total('[ab]*a[ab]{500}[cd]')).toThrow(expect.objectContaining({ code: 'over_budget' }))
    expect(total('[ab]*a[ab]{20}[cd]')).toBe(0)
    expect(total('(ab){40}$')).toBe(1)
  })

  test('end with the time of the request, one text after the other', () => {
    const ledger = opened()
    ledger.put('Person', 'person_1', { name: 'ab'.repeat(50_000) })
    const patterns = Array.from({ length: 100 }, (_, i) => ({ name: { $regex: `[ab]{5}${i}` } }))
    const query = { type: 'Person', filter: ledger.filter('Person', { $or: patterns }) }
    let time = 0

    const late = expect.objectContaining({ code: 'over_budget', about: { limit: 'time' } })
    expect(() => find(ledger.reader({ budget: budgetOf(20, () => ++time) }), query)).toThrow(late)
  })

  test('a long list is compared with many values, each looked at once', () => {
    const ledger = opened()
    const list = [...Array(100_000).fill(1), { a: 1, b: [2] }]
    ledger.put('Person', 'person_1', { name: 'Ada', notes: list })
    const values = Array.from({ length: 9_999 }, (_, i) => i + 2)
    const inMemory = (notes: object) => ask(ledger, 'Person', { $or: [{ name: { $regex: 'zz' } }, { notes }] }).total

    expect(inMemory({ $in: values })).toBe(0)
    expect(inMemory({ $in: [...values, 1] })).toBe(1)
    expect(inMemory({ $in: [...values, { b: [2], a: 1 }] })).toBe(1)
    expect(inMemory({ $in: [...values, { b: [1], a: 1 }] })).toBe(0)
  })
})

const EVIL = [
  `'; DROP TABLE entities; --`,
  `" OR 1=1 --`,
  `$."a"`,
  `a') OR ('1'='1`,
  `\\`,
  `%`,
  `x'00'`,
  `?`,
  `?1`,
  '${x}',
  '\u0000',
  `"]`,
  `]`,
  `[0]`,
]

test('names and values from outside never become SQL', () => {
  const ledger = opened()
  ledger.put('Person', 'person_1', { name: 'Ada', ...Object.fromEntries(EVIL.map((word) => [word, word])) })
  const { sql, texts } = ledger.watched()
  const found = (filter: unknown, order = '') =>
    ids(
      find(ledger.reader({ sql }), {
        type: 'Person',
        filter: ledger.filter('Person', filter),
        sort: parseSort(order, Person, NOUNS),
      }),
    )

  for (const word of EVIL) {
    expect(found({ name: word })).toEqual([])
    expect(found({ name: { $in: [word, 'y'] } })).toEqual([])
    expect(found({ name: { $gt: word, $ne: word } }).length).toBeLessThan(2)
    expect(found({ $id: word, $createdBy: word, 'company.name': word, email: word })).toEqual([])
    expect(found({ [`notes.${word}`]: { $ne: word } })).toEqual(['person_1'])
    if (word.startsWith('$')) continue
    expect(found({ [word]: word }), word).toEqual(['person_1'])
    if (!['"', '\\', '\u0000'].some((letter) => word.includes(letter)))
      expect(found({}, `${word.replaceAll(',', '')}`)).toEqual(['person_1'])
  }
  expect(texts.filter((text) => EVIL.some((word) => word.length > 3 && text.includes(word)))).toEqual([])
  // The text depends on the shape of a question alone.
  expect(new Set(texts).size).toBeLessThan(25)
})

describe('the search for unknown names', () => {
  /** A budget whose machine time jumps with every look, and whose thread time does or does not. */
  const jumpingBudget = (cpuStep: number) => {
    const [clock, cpu] = [{ at: 0 }, { at: 0 }]
    const limits = { ms: 1_000_000, rows: 1_000, bytes: 1_000 }
    const look = (time: { at: number }, step: number) => () => {
      time.at += step
      return time.at
    }
    return new Budget(limits, look(clock, 500), look(cpu, cpuStep))
  }
  const unknownIn = (cpuStep: number, isStrict: boolean) => {
    const { tenant } = openAcme()
    tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' })
    const { questions, nouns } = tenant.facade.read(OPERATOR, jumpingBudget(cpuStep))
    return questions.unknownFields(nouns.get('Contact')!, ['emial', 'name'], isStrict).map(({ field }) => field)
  }

  test('continues while others use the machine, and ends when it has used the thread for long', () => {
    expect(unknownIn(0, false)).toEqual(['emial'])
    expect(unknownIn(500, false)).toEqual([])
  })

  test('continues with strict, so that no unknown name is taken', () => {
    expect(unknownIn(500, true)).toEqual(['emial'])
  })
})
