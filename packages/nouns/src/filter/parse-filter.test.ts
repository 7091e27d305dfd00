import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.ts'
import {
  match,
  type Noun,
  noun,
  nounsOf,
  type Problem,
  parseFilter,
  parseFilterText,
  parsePlain,
  patternSize,
  resolveInstant,
  touches,
} from '../index.ts'

const Company = noun('Company', {
  name: 'string',
  industry: 'string',
  people: '<- Person.company[]',
  parent: '-> Company',
}) as unknown as Noun
const Person = noun('Person', {
  name: 'string!',
  age: 'number',
  active: 'boolean',
  born: 'date',
  seen: 'datetime',
  level: 'Low | High',
  notes: 'json',
  key: 'secret',
  company: '-> Company.people',
  boss: '-> Person',
  createdBy: '-> Person',
  reports: '<- Person.boss[]',
}) as unknown as Noun
const Strict = noun('Strict', { name: 'string', $strict: true }) as unknown as Noun
const NOUNS = nounsOf([Company, Person, Strict])
const NOW = Date.UTC(2026, 5, 15, 12)
const regexes = (count: number, pattern: string) =>
  Array.from({ length: count }, (_, i) => ({ name: { $regex: `${pattern}${i}` } }))
const REGEX = { regex: (pattern: string) => (pattern.includes('(?=') ? 'no lookahead' : null) }

function parse(json: unknown, type = Person) {
  return parseFilter(json, type, NOUNS, NOW, REGEX)
}

function refusal(work: () => unknown): Problem {
  try {
    work()
  } catch (reason) {
    return reason as Problem
  }
  throw new Error('It was not refused.')
}

const deep = (depth: number): object => (depth === 0 ? { age: 1 } : { $and: [deep(depth - 1)] })

describe('what is refused', () => {
  test.each<[string, unknown, string]>([
    ['a list', [], 'filter'],
    ['a text', 'x', 'filter'],
    ['null', null, 'filter'],
    ['an operator nobody knows', { age: { $near: 1 } }, 'age'],
    ['an operator nobody knows, at the top', { $nor: [] }, '$nor'],
    ['$not at the top', { $not: { age: 1 } }, '$not'],
    ['a prototype’s name as an operator', { age: { $constructor: 1 } }, 'age'],
    ['operators beside fields', { age: { $gt: 1, x: 2 } }, 'age'],
    ['$gte: null', { age: { $gte: null } }, 'age'],
    ['$lt of an object', { age: { $lt: {} } }, 'age'],
    ['$and: []', { $and: [] }, '$and'],
    ['$or: []', { $or: [] }, '$or'],
    ['$or that is no list', { $or: { age: 1 } }, '$or'],
    ['$and of a literal', { $and: [1] }, 'filter'],
    ['$in that is no list', { age: { $in: 1 } }, 'age'],
    ['$in of operators', { age: { $in: [{ $gt: 1 }] } }, 'age'],
    ['$exists of a number', { age: { $exists: 1 } }, 'age'],
    ['$not around a literal', { age: { $not: 5 } }, 'age'],
    ['$not around an object without operators', { age: { $not: {} } }, 'age'],
    ['$options alone', { name: { $options: 'i' } }, 'name'],
    ['an option nobody knows', { name: { $regex: 'a', $options: 'g' } }, 'name'],
    ['a pattern that is no text', { name: { $regex: 5 } }, 'name'],
    ['a pattern that is too long', { name: { $regex: 'a'.repeat(257) } }, 'name'],
    ['a pattern with large repetitions', { name: { $regex: 'x{1,1000}'.repeat(20) } }, '$regex'],
    ['large patterns that together are too many', { $and: regexes(21, 'x{100}') }, '$regex'],
    ['many patterns of the longest kind', { $or: regexes(8, 'y'.repeat(250)) }, '$regex'],
    ['a pattern that does not compile', { name: { $regex: '(?=a)' } }, 'name'],
    ['a datetime that is none', { seen: { $gt: 'soon' } }, 'seen'],
    ['a datetime that is a number', { $createdAt: 5 }, '$createdAt'],
    ['a date that does not exist', { born: '2026-02-30' }, 'born'],
    ['four segments', { 'company.parent.parent.name': 1 }, 'company.parent.parent.name'],
    ['four segments, the last inside a text', { 'company.parent.name.first': 1 }, 'company.parent.name.first'],
    ['a way into a meta-field', { '$id.x': 1 }, '$id.x'],
    ['a secret', { key: 'x' }, 'key'],
    ['a secret behind a relation', { 'boss.key': 'x' }, 'boss.key'],
    ['$text in $or', { $or: [{ $text: 'a' }] }, '$text'],
    ['$text in $or in $and', { $and: [{ $or: [{ $text: 'a' }] }] }, '$text'],
    ['an empty $text', { $text: ' ' }, '$text'],
    ['a $text that is a number', { $text: 5 }, '$text'],
    ['a $text of 51 words', { $text: Array.from({ length: 51 }, (_, i) => `word${i}`).join(' ') }, '$text'],
    ['a $text of five letters', { $text: 'a b c d e' }, '$text'],
    ['letters in several $text', { $and: ['a b c', 'd e'].map((words) => ({ $text: words })) }, '$text'],
    ['501 nodes', { $or: Array.from({ length: 500 }, () => ({ age: 1 })) }, 'age'],
    ['33 levels', deep(33), 'filter'],
  ])('%s', (_, json, field) => {
    const problem = refusal(() => parse(json))

    expect(problem.code).toBe('invalid_filter')
    expect(problem.about.field === field || (field === 'age' && problem.about.field === 'filter')).toBe(true)
  })

  verifies('filter.unknownOperator', 'the error lists the operators', () => {
    const problem = refusal(() => parse({ age: { $near: 1 } }))

    expect(problem.about).toMatchObject({
      field: 'age',
      supported: expect.arrayContaining(['$eq', '$nin', '$regex', '$not']),
    })
    expect(refusal(() => parse({ $nor: [] })).about.supported).toEqual(['$and', '$or', '$text'])
  })

  test('words count once each', () => {
    const words = Array.from({ length: 50 }, (_, i) => `word${i}`)

    expect(parse({ $text: `${words.join(' ')} ${words.join(' ')}` })).toEqual({ op: 'text', words })
    expect(() => parse({ $and: [{ $text: 'a b c d' }, { $text: 'd c b a ada' }] })).not.toThrow()
  })

  test('patterns count once each', () => {
    expect(() => parse({ $and: [{ name: { $regex: 'x{1000}' } }, { nick: { $regex: 'x{1000}' } }] })).not.toThrow()
    expect(() => parse({ $and: regexes(19, 'x{100}') })).not.toThrow()
  })

  test.each([
    ['ab', 2],
    ['a{10}', 10],
    ['a{2,10}b', 11],
    ['a{10,}', 10],
    ['(a{10}b){10}', 110],
    ['(?:a|b{3}){2}', 14],
    ['[a{9}]{5}', 5],
    ['[]a(]{5}', 5],
    ['[[:alpha:]x]{5}', 5],
    ['\\[a{5}', 6],
    ['\\x{41}{5}', 5],
    ['\\p{Greek}{5}', 5],
    ['\\Q[\\E(a{100})', 101],
    ['((a{10}', 10],
  ])('the size of %s is %i', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size)
  })

  test('an unknown field of a strict type', () => {
    expect(refusal(() => parse({ nmae: 1 }, Strict)).message).toMatch(/did you mean name\? Supported here/)
  })

  test('text that is not JSON', () => {
    expect(refusal(() => parseFilterText('{', Person, NOUNS, NOW, REGEX)).code).toBe('invalid_filter')
    expect(parseFilterText('', Person, NOUNS, NOW, REGEX)).toEqual({ op: 'and', of: [] })
  })
})

describe('paths', () => {
  test.each<[string, string[], string, string[]]>([
    ['name', [], 'name', []],
    ['company', [], 'company', []],
    ['company.industry', ['company'], 'industry', []],
    ['company.$id', ['company'], '$id', []],
    ['company.createdAt', ['company'], '$createdAt', []],
    ['reports', ['reports'], '$id', []],
    ['reports.company.name', ['reports', 'company'], 'name', []],
    ['createdBy', [], 'createdBy', []],
    ['createdBy.name', ['createdBy'], 'name', []],
    ['updatedAt', [], '$updatedAt', []],
    ['notes.a.b.c.d', [], 'notes', ['a', 'b', 'c', 'd']],
    ['undeclared.a.b.c', [], 'undeclared', ['a', 'b', 'c']],
    ['company.parent.undeclared.a.b', ['company', 'parent'], 'undeclared', ['a', 'b']],
  ])('%s', (text, hops, field, into) => {
    expect(parse({ [text]: null })).toMatchObject({
      path: { hops: hops.map((name) => ({ field: name })), field, into },
    })
  })

  test('the types that a filter reads are returned', () => {
    expect(touches(parse({ $or: [{ 'company.people.age': 1 }, { name: { $not: { $eq: 1 } } }] }))).toEqual(
      new Set(['Company', 'Person']),
    )
  })
})

describe('operands', () => {
  verifies(['datetime.operand', 'datetime.relative'], 'datetimes are normalised, also those relative to now', () => {
    expect(parse({ seen: { $gt: '2026-01-01T01:00:00+01:00' } })).toMatchObject({ value: '2026-01-01T00:00:00.000Z' })
    expect(parse({ $createdAt: { $in: ['2026-01-01', null] } })).toMatchObject({
      value: ['2026-01-01T00:00:00.000Z', null],
    })
    expect(parse({ born: '2026-01-01T00:00:00Z' })).toMatchObject({ value: '2026-01-01' })
    expect(parse({ seen: { $lt: '7d ago' } })).toMatchObject({ value: '2026-06-08T12:00:00.000Z', said: '7d ago' })
    expect(parse({ 'notes.when': '7d ago' })).toMatchObject({ value: '7d ago' })
    expect(
      ['now', 'today', '90s ago', '5m ago', '2h ago', '1w ago', 'yesterday'].map((text) => resolveInstant(text, NOW)),
    ).toEqual([NOW, NOW - 12 * 3_600_000, NOW - 90_000, NOW - 300_000, NOW - 7_200_000, NOW - 7 * 86_400_000, null])
  })

  verifies(
    ['parameter.coerced', 'list.equality'],
    'plain parameters are parsed by the declared type of their field',
    () => {
      const plain = (name: string, text: string) => parsePlain([[name, text]], Person, NOUNS, NOW)
      const passes = (name: string, text: string, entity: object) =>
        match(
          plain(name, text),
          entity as never,
          () => [],
          () => () => false,
        )

      expect(plain('age', '5')).toMatchObject({ op: 'eq', value: 5 })
      expect(plain('active', 'true')).toMatchObject({ value: true })
      expect(plain('name', '5')).toMatchObject({ value: '5' })
      expect(plain('seen', '2026-01-01')).toMatchObject({ value: '2026-01-01T00:00:00.000Z' })
      expect(plain('$version', '2')).toMatchObject({ value: 2 })
      expect(plain('company.industry', 'tech')).toMatchObject({ path: { hops: [{ target: 'Company' }] } })
      expect([
        passes('free', '5', { free: 5 }),
        passes('free', '5', { free: '5' }),
        passes('free', 'true', { free: true }),
      ]).toEqual([true, true, true])
      for (const [name, text] of [
        ['age', 'x'],
        ['active', 'yes'],
        ['seen', 'x'],
        ['key', 'x'],
        ['$nope', 'x'],
      ]) {
        expect(refusal(() => plain(name!, text!)).code).toBe('invalid_filter')
      }
    },
  )
})
