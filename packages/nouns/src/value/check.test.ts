import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../catalogue/index.ts'
import { parseNoun } from '../notation/notation.ts'
import { checkDraft, checkPatch, checkSet } from './check.ts'

const NOW = Date.parse('2026-03-04T05:06:07.089Z')
const Thing = parseNoun('Thing', {
  name: 'string!',
  size: 'number',
  open: 'boolean',
  day: 'date',
  at: 'datetime',
  made: 'datetime! = now',
  since: 'date = now',
  stage: 'Lead | Qualified | Customer = Lead',
  tags: 'string[]',
  more: 'json',
  key: 'secret',
  seen: 'datetime (set by the service)',
  state: 'On | Off = On (set by the service)',
  owner: '-> ApiKey',
  friends: '-> Contact[]',
  parts: '<- Part.thing[]',
})
const Strict = parseNoun('Strict', { $strict: true, name: 'string!' })

const draft = (input: unknown) => checkDraft(Thing, input, NOW)
const patch = (input: unknown) => checkPatch(Thing, input, NOW)
const DEFAULTS = { made: '2026-03-04T05:06:07.089Z', since: '2026-03-04', stage: 'Lead', state: 'On' }

describe('a draft', () => {
  test('gets the defaults of missing fields', () => {
    expect(draft({ name: 'Ada' })).toEqual({ data: { name: 'Ada', ...DEFAULTS }, issues: [] })
  })

  test('lists every error, not only the first', () => {
    const input = {
      size: '1',
      open: 1,
      day: '2026-02-30',
      at: 'soon',
      stage: 'Laed',
      tags: 'a',
      owner: 'contact_1',
      parts: [],
    }

    expect(draft(input).issues).toEqual([
      { field: 'size', message: 'must be a number' },
      { field: 'open', message: 'must be true or false' },
      { field: 'day', message: 'must be a date such as 2026-01-31' },
      { field: 'at', message: 'must be an ISO 8601 datetime such as 2026-01-31T09:00:00Z' },
      { field: 'stage', message: 'must be Lead, Qualified or Customer; did you mean Lead?' },
      { field: 'tags', message: 'must be a list' },
      { field: 'owner', message: 'must be the id of an ApiKey, such as apiKey_…' },
      { field: 'parts', message: 'is the inverse of Part.thing; set that field instead' },
      { field: 'name', message: 'is required' },
    ])
  })

  test('keeps the order of the sent fields', () => {
    const { data } = draft({ zebra: 1, size: 2, name: 'Ada', apple: 3 })

    expect(Object.keys(data)).toEqual(['zebra', 'size', 'name', 'apple', ...Object.keys(DEFAULTS)])
  })

  test('leaves a field with null empty, without its default', () => {
    expect(draft({ name: 'Ada', stage: null, size: null, since: null }).data).toEqual({
      name: 'Ada',
      made: DEFAULTS.made,
      state: 'On',
    })
    expect(draft({ name: null, made: null }).issues.map(({ field }) => field)).toEqual(['name', 'made'])
  })

  test('cannot set a field of the service, and gets its default instead', () => {
    expect(draft({ name: 'Ada', state: null }).data.state).toBe('On')
    expect(draft({ name: 'Ada', seen: 'never', state: 'Off' })).toEqual({
      data: { name: 'Ada', ...DEFAULTS },
      issues: [],
    })
    expect(checkDraft(catalogue.ApiKey, { name: 'ci', keyPrefix: 'tb_12345', status: 'Revoked' }, NOW)).toEqual({
      data: { name: 'ci', status: 'Active' },
      issues: [],
    })
  })
})

describe('a patch', () => {
  test('contains only the changed fields', () => {
    expect(patch({ size: 3 })).toEqual({ data: { size: 3 }, issues: [] })
  })

  test('clears a field with null, but not a required one', () => {
    expect(patch({ size: null, tags: null, other: null })).toEqual({
      data: { size: null, tags: null, other: null },
      issues: [],
    })
    expect(patch({ name: null }).issues).toEqual([{ field: 'name', message: 'is required and cannot be cleared' }])
  })
})

test('a verb may set a field of the service, which is validated like any other', () => {
  expect(checkSet(Thing, { state: 'Off', seen: '2026-01-01' })).toEqual({
    data: { state: 'Off', seen: '2026-01-01T00:00:00.000Z' },
    issues: [],
  })
  expect(checkSet(Thing, { state: 'Broken' }).issues).toEqual([{ field: 'state', message: 'must be On or Off' }])
  expect(patch({ state: 'Off' }).data).toEqual({})
})

describe('values', () => {
  test.each([
    ['a datetime in another zone', { at: '2026-01-01T00:30:00+02:00' }, { at: '2025-12-31T22:30:00.000Z' }],
    ['a datetime without a zone, as UTC', { at: '2026-01-01T00:30' }, { at: '2026-01-01T00:30:00.000Z' }],
    ['a date as a datetime', { at: '2026-01-01' }, { at: '2026-01-01T00:00:00.000Z' }],
    ['a datetime as a date', { day: '2026-01-01T00:30:00+02:00' }, { day: '2025-12-31' }],
    ['a leap day', { day: '2024-02-29' }, { day: '2024-02-29' }],
    ['a lone surrogate', { name: 'a\ud800', note: ['\udc00'] }, { name: 'a\ufffd', note: ['\ufffd'] }],
    ['a lone surrogate in a name', { more: { '\ud800': 1 } }, { more: { '\ufffd': 1 } }],
    ['an id', { owner: 'apiKey_0abcABC123' }, { owner: 'apiKey_0abcABC123' }],
    ['a list of ids', { friends: ['contact_1', 'contact_2'] }, { friends: ['contact_1', 'contact_2'] }],
    ['any JSON', { more: [1, { a: null }] }, { more: [1, { a: null }] }],
    ['what is not declared', { other: { a: [true] } }, { other: { a: [true] } }],
  ])('are normalised: %s', (_, input, data) => {
    expect(patch(input)).toEqual({ data, issues: [] })
  })

  test.each([
    ['NaN', { size: Number.NaN }, 'size'],
    ['an endless number inside', { more: { a: [Number.POSITIVE_INFINITY] } }, 'more.a.0'],
    ['a Date of JavaScript', { other: new Date(0) }, 'other'],
    ['a function', { other: () => 1 }, 'other'],
    ['a number in a list of strings', { tags: ['a', 1] }, 'tags.1'],
    ['the id of another type in a list', { friends: ['contact_1', 'deal_1'] }, 'friends.1'],
    ['an id that is a path', { owner: 'apiKey_../x' }, 'owner'],
    ['an empty secret', { key: '' }, 'key'],
    ['a reserved name', { $where: 1 }, '$where'],
    ['__proto__', JSON.parse('{"__proto__": {"admin": true}}'), '__proto__'],
    ['constructor', { constructor: 1 }, 'constructor'],
    ['__proto__ inside', JSON.parse('{"more": [{"__proto__": 1}]}'), 'more.0.__proto__'],
    ['prototype inside what is not declared', { other: { prototype: 1 } }, 'other.prototype'],
  ])('are refused: %s', (_, input, field) => {
    expect(patch(input).issues.map((issue) => issue.field)).toEqual([field])
  })
})

test('the error for a name such as __proto__ contains that name', () => {
  expect(patch(JSON.parse('{"__proto__": 1}')).issues).toEqual([
    { field: '__proto__', message: '__proto__ is not allowed as a field name' },
  ])
})

test('meta-fields in a body are ignored', () => {
  const meta = {
    $id: 1,
    $type: 1,
    $version: 1,
    $context: 1,
    $createdAt: 1,
    $updatedAt: 1,
    $createdBy: 1,
    createdAt: 1,
    updatedAt: 1,
  }

  expect(patch(meta)).toEqual({ data: {}, issues: [] })
  expect(checkPatch(catalogue.Activity, { createdBy: 'contact_1' }, NOW).data).toEqual({ createdBy: 'contact_1' })
})

test('a strict type refuses what it does not declare and names the nearest', () => {
  expect(checkPatch(Strict, { nmae: 'Ada' }, NOW).issues).toEqual([
    { field: 'nmae', message: 'is not declared, and Strict is strict; did you mean name?' },
  ])
})

test('a strict type of few fields names those that can be written when none is similar', () => {
  expect(checkDraft(catalogue.ApiKey, { name: 'ci', rows: {} }, NOW).issues).toEqual([
    {
      field: 'rows',
      message: 'is not declared, and ApiKey is strict; its fields are name, scopes, expiresAt and filter',
    },
  ])
})

test.each([[null], [undefined], ['text'], [[{ name: 'Ada' }]], [7]])('a body that is %j is one issue', (body) => {
  expect(draft(body)).toEqual({ data: {}, issues: [{ field: '', message: 'the body must be a JSON object' }] })
})

test('64 levels are stored, 65 are refused, and a million do not crash', () => {
  const nested = (levels: number) => ({ more: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) })

  expect(patch(nested(63)).issues).toEqual([])
  for (const levels of [64, 1_000_000]) {
    expect(patch(nested(levels)).issues).toEqual([
      { field: 'more', message: 'is nested too deeply: at most 64 levels are allowed' },
    ])
  }
})

test('a valid value is valid again without changes', () => {
  const body = fc.record(
    {
      name: fc.string({ unit: 'binary' }),
      size: fc.double({ noNaN: true, noDefaultInfinity: true }),
      at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString()),
      tags: fc.array(fc.string()),
      more: fc.jsonValue(),
      other: fc.jsonValue(),
    },
    { requiredKeys: ['name'] },
  )

  fc.assert(
    fc.property(body, (input) => {
      const first = draft(input)
      fc.pre(first.issues.length === 0)
      expect(draft(first.data)).toEqual(first)
    }),
  )
})
