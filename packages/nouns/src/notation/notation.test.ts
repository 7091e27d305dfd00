import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Issue } from '../problem.ts'
import { Problem } from '../problem.ts'
import { noun, parseNoun } from './notation.ts'

const field = (notation: string) => parseNoun('Thing', { it: notation }).fields.it

describe('a field', () => {
  const plain = { name: 'it', kind: 'string', list: false, required: false, index: 'none', service: false }

  test.each([
    ['string', plain],
    ['string!', { ...plain, required: true }],
    ['string! ## ', { ...plain, required: true, index: 'unique' }],
    ['string#!', { ...plain, required: true, index: 'indexed' }],
    ['string[]!', { ...plain, required: true, list: true }],
    ['string = usd', { ...plain, default: 'usd' }],
    ['string = "a = b"', { ...plain, default: 'a = b' }],
    ['string[] = ["a"]', { ...plain, list: true, default: ['a'] }],
    ['number = -1.5', { ...plain, kind: 'number', default: -1.5 }],
    ['boolean = true', { ...plain, kind: 'boolean', default: true }],
    ['json = {"a":[1]}', { ...plain, kind: 'json', default: { a: [1] } }],
    ['datetime! = now', { ...plain, kind: 'datetime', required: true, default: 'now' }],
    ['date = 2026-01-31', { ...plain, kind: 'date', default: '2026-01-31' }],
    ['secret', { ...plain, kind: 'secret' }],
    ['string!## (set by the service)', { ...plain, required: true, index: 'unique', service: true }],
    ['Lead | In Progress = Lead', { ...plain, kind: 'enum', values: ['Lead', 'In Progress'], default: 'Lead' }],
    ['A|B!', { ...plain, kind: 'enum', values: ['A', 'B'], required: true }],
    ['A | B = A (set by the service)', { ...plain, kind: 'enum', values: ['A', 'B'], default: 'A', service: true }],
    ['-> Tag', { name: 'it', kind: 'forward', target: 'Tag', list: false, required: false }],
    ['-> Tag!', { name: 'it', kind: 'forward', target: 'Tag', list: false, required: true }],
    ['-> Tag[]', { name: 'it', kind: 'forward', target: 'Tag', list: true, required: false }],
    ['-> Tag.things', { name: 'it', kind: 'forward', target: 'Tag', list: false, required: false, inverse: 'things' }],
    ['<- Tag.thing[]', { name: 'it', kind: 'back', target: 'Tag', via: 'thing', list: true }],
    ['<- Tag.thing', { name: 'it', kind: 'back', target: 'Tag', via: 'thing', list: false }],
  ])('is parsed from %s', (notation, expected) => {
    expect(field(notation)).toEqual(expected)
  })
})

describe('a verb', () => {
  const states = { status: 'Draft | Sent | Read = Draft' }

  test('gets its names from English by default', () => {
    expect(parseNoun('Letter', { ...states, send: {} }).verbs.send).toEqual({
      name: 'send',
      before: 'sending',
      event: 'sent',
    })
  })

  test('starts from one state, from several, or from any', () => {
    const { verbs } = parseNoun('Letter', {
      ...states,
      send: { from: 'Draft' },
      burn: { from: ['Sent', 'Read'] },
      lose: { from: '*' },
    })

    expect([verbs.send?.from, verbs.burn?.from, verbs.lose?.from]).toEqual([['Draft'], ['Sent', 'Read'], undefined])
  })

  test('is built in for every type: create, update, delete, rollback and restore', () => {
    const { verbs } = parseNoun('Letter', {})

    expect(Object.values(verbs).map(({ name, before, event }) => [name, before, event])).toEqual([
      ['create', 'creating', 'created'],
      ['update', 'updating', 'updated'],
      ['delete', 'deleting', 'deleted'],
      ['rollback', 'rollingBack', 'updated'],
      ['restore', 'restoring', 'restored'],
    ])
  })

  test('is turned off by null, with the verbs that depend on it', () => {
    expect(Object.keys(parseNoun('Letter', { update: null }).verbs)).toEqual(['create', 'delete', 'restore'])
    expect(Object.keys(parseNoun('Letter', { delete: null }).verbs)).toEqual(['create', 'update', 'rollback'])
  })
})

test('timers name a time, states, a filter and a verb', () => {
  const { timers, verbs } = parseNoun('Letter', {
    status: 'Draft | Sent = Draft',
    sendAt: 'datetime',
    send: { from: 'Draft', set: { status: 'Sent' }, keeps: 'event' },
    $timers: { send: { at: 'sendAt', from: 'Draft', when: { urgent: true }, run: 'send' } },
  })

  expect({ ...timers }).toEqual({
    send: { name: 'send', at: 'sendAt', from: ['Draft'], when: { urgent: true }, run: 'send' },
  })
  expect(verbs.send?.keeps).toBe('event')
})

test.each([
  [
    'the enum that verbs with from set',
    { status: 'A | B', phase: 'X | Y', go: { from: 'X', set: { phase: 'Y' } } },
    'phase',
  ],
  ['else status', { stage: 'A | B', status: 'A | B' }, 'status'],
  ['else stage', { stage: 'A | B', status: 'string' }, 'stage'],
  ['else none', { name: 'string' }, null],
])('the state field is %s', (_, notation, expected) => {
  expect(parseNoun('Thing', notation).stateField).toBe(expected)
})

test('domain, path and strictness are plain data too', () => {
  const given = { $domain: 'crm', $path: 'folk', $strict: true, name: 'string!' }
  const person = parseNoun('Person', given)

  expect([person.domain, person.path, person.strict, person.prefix]).toEqual(['crm', 'folk', true, 'person'])
  expect(person.notation).toEqual(given)
  expect(noun('Person', { name: 'string!' }, { domain: 'crm', path: 'folk', strict: true })).toEqual(person)
  expect(noun('Person', { $domain: 'support' }, { domain: 'crm' }).domain).toBe('support')
  expect([noun('Person', {}).domain, noun('Person', {}).path]).toEqual(['custom', 'people'])
})

test('a noun is frozen, and has only declared properties', () => {
  const thing = parseNoun('Thing', { tags: 'string[] = ["a"]' })

  expect(() => Object.assign(thing.fields, { more: 1 })).toThrow(TypeError)
  expect(thing.fields.constructor).toBeUndefined()
  expect(thing.verbs.toString).toBeUndefined()
})

describe('a declaration that is not valid', () => {
  test('reports every error together', () => {
    const notation = {
      name: 'strng!',
      createdAt: 'datetime',
      'bad name': 'string',
      update: 'string',
      stage: 'A | A',
      size: 'number = big',
      kind: 'A | B = C',
      tags: 'string[]#',
      deals: '<- Deal',
      owner: '->',
      odd: 7,
      gone: null,
      go: { from: 'Z', set: { kind: 'Q', nope: 1, size: '$next', name: '$soon' }, evnt: 'went' },
      $speed: 1,
    }

    expect(faultsOf('Thing', notation).map(({ field }) => field)).toEqual([
      ...['$speed', 'name', 'createdAt', 'bad name', 'update', 'stage', 'size', 'kind', 'tags', 'deals', 'owner'],
      ...['odd', 'gone', 'go', 'go', 'go', 'go', 'go', 'go'],
    ])
    expect(faultsOf('Thing', notation)).toContainEqual({
      field: 'name',
      message:
        'must be string, number, boolean, date, datetime, json, file or secret, values such as Lead | Customer, or a relation; not strng; did you mean string?',
    })
    expect(faultsOf('Thing', { share: 'number!# 0..100' })[0]?.message).toMatch(/marks come last: number 0\.\.100!#$/)
  })

  test.each([
    ['a name in small letters', 'thing', {}],
    ['a name that is too long', `T${'x'.repeat(64)}`, {}],
    ['a list', 'Thing', []],
    ['too many fields', 'Thing', Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, 'string']))],
    ['too many verbs', 'Thing', Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`v${n}`, {}]))],
    ['too many words', 'Thing', { kind: Array.from({ length: 201 }, (_, n) => `W${n}`).join(' | ') }],
    ['more than 64 kB', 'Thing', { kind: `string = ${'é'.repeat(33_000)}` }],
    ['a field named __proto__', 'Thing', JSON.parse('{"__proto__": "string"}')],
    ['a verb named constructor', 'Thing', { constructor: {} }],
    ['a verb that takes the event of a built-in one', 'Thing', { touch: { event: 'updated' } }],
    ['a built-in verb declared anew', 'Thing', { update: { event: 'changed' } }],
    ['states without a field of states', 'Thing', { go: { from: 'A' } }],
    ['an argument that a strict type does not know', 'Thing', { $strict: true, go: { args: ['how'] } }],
    ['a verb that comes from no state', 'Thing', { status: 'A | B', go: { from: [] } }],
    ['a path of the service', 'Thing', { $path: 'batch' }],
    ['a domain that would mean every type', 'Thing', { $domain: 'all' }],
    ['a verb that clears a required field', 'Thing', { name: 'string!', go: { set: { name: null } } }],
    ['an indexed secret', 'Thing', { key: 'secret##' }],
    ['an order with nothing to go through', 'Thing', { status: 'A | B', go: { order: ['A', 'B'] } }],
    ['a verb that keeps its arguments elsewhere', 'Thing', { go: { keeps: 'field' } }],
    ['timers that are no object', 'Thing', { $timers: [] }],
    ['a timer without a time', 'Thing', { go: {}, $timers: { soon: { run: 'go' } } }],
    ['a timer at a field of another kind', 'Thing', { n: 'number', go: {}, $timers: { soon: { at: 'n', run: 'go' } } }],
    ['a timer without a verb', 'Thing', { due: 'datetime', $timers: { soon: { at: 'due' } } }],
    ['a timer of a verb that is not there', 'Thing', { due: 'datetime', $timers: { soon: { at: 'due', run: 'go' } } }],
    [
      'a timer in a state that is not there',
      'Thing',
      { due: 'datetime', status: 'A | B', go: {}, $timers: { soon: { at: 'due', from: 'C', run: 'go' } } },
    ],
    [
      'a timer with a filter that is no object',
      'Thing',
      { due: 'datetime', go: {}, $timers: { soon: { at: 'due', when: 'later', run: 'go' } } },
    ],
    ['a default nested too deep', 'Thing', { go: { set: nested(70) } }],
  ])('is refused: %s', (_, name, notation) => {
    expect(faultsOf(name, notation).length).toBeGreaterThan(0)
  })

  test('lists its faults in one sentence', () => {
    const faults = [...faultsOf('Bad Name', { 'bad name': 'strng', go: { odd: 1 } }), ...faultsOf('thing', { a: 5 })]

    for (const { message } of faults) expect(message).not.toMatch(/\.$/)
  })

  test('always throws a Problem, for any input', () => {
    const scraps = [
      'string',
      '!',
      '#',
      '##',
      '[]',
      '=',
      '|',
      ' ',
      '->',
      '<-',
      'A',
      'Tag.x',
      'now',
      '(set by the service)',
    ]
    const texts = fc.array(fc.constantFrom(...scraps), { maxLength: 8 }).map((parts) => parts.join(''))

    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.oneof(texts, fc.jsonValue())), (name, notation) => {
        try {
          const read = parseNoun(name, notation)
          expect(parseNoun(name, read.notation)).toEqual(read)
        } catch (problem) {
          if (!(problem instanceof Problem)) throw problem
          expect(problem.about.details?.length).toBeGreaterThan(0)
        }
      }),
    )
  })
})

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

function faultsOf(name: string, notation: unknown): readonly Issue[] {
  try {
    parseNoun(name, notation)
  } catch (problem) {
    if (problem instanceof Problem && problem.code === 'invalid_schema') return problem.about.details as Issue[]
    throw problem
  }
  return []
}
