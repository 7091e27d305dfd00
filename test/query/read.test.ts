import { catalogue, type Filter, type JsonObject, type Noun, noun, nounsOf, parseSort } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { aggregate } from '../../packages/tenant/src/query/aggregate.ts'
import { parseFields, project } from '../../packages/tenant/src/query/fields.ts'
import { count, find, get, type Page, type Query } from '../../packages/tenant/src/query/find.ts'
import { includedTypes, parseInclude } from '../../packages/tenant/src/query/include.ts'
import { foldText } from '../../packages/tenant/src/query/text.ts'
import { verifies } from '../verifies.ts'
import { Ledger } from './ledger.ts'

const Company = noun('Company', {
  name: 'string',
  industry: 'string#',
  key: 'secret',
  parent: '-> Company.children',
  children: '<- Company.parent[]',
  people: '<- Person.company[]',
  events: '<- Event.company[]',
}) as unknown as Noun
const Person = noun('Person', {
  name: 'string!',
  email: 'string##',
  age: 'number#',
  born: 'date',
  seen: 'datetime',
  level: 'Low | High',
  company: '-> Company.people',
  teams: '-> Team[]',
  secret: 'secret',
  notes: 'json',
}) as unknown as Noun
const Team = noun('Team', { name: 'string', members: '<- Person.teams[]' }) as unknown as Noun
const Event = noun(
  'Event',
  {
    name: 'string!',
    type: 'string!',
    data: 'json',
    source: 'string',
    timestamp: 'datetime',
    userId: 'string',
    company: '-> Company',
  },
  { path: 'tracked-events' },
) as unknown as Noun
const NOUNS = nounsOf([Company, Person, Team, Event])

function opened(): Ledger {
  return new Ledger(NOUNS)
}

function ids(page: Page): string[] {
  return page.results.map((row) => row.id)
}

function ask(ledger: Ledger, type: string, filter?: unknown, more: Partial<Query> & { order?: string } = {}): Page {
  const { order, ...rest } = more
  return find(ledger.reader(), {
    type,
    filter: ledger.filter(type, filter),
    sort: parseSort(order, NOUNS.get(type)!, NOUNS),
    ...rest,
  })
}

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

  test.each(['"', '"ada" OR', 'NOT', 'words:ada', '*', 'a*', '^ada', '(', 'NEAR(a b)', '-', '\u0000', 'ada"*"'])(
    'the words %j are words, never syntax',
    (words) => {
      expect(() => ask(library(), 'Person', { $text: words })).not.toThrow()
    },
  )

  test('words without a letter are ignored beside others and match nothing alone', () => {
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
    while (foldText(ledger.sql, NOUNS, 2) > 0);

    expect(ask(ledger, 'Person', { $text: 'ada' }).total).toBe(0)
    expect(ids(ask(ledger, 'Person', { $text: 'aug' }))).toEqual(['person_1'])
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
    let statements = 0
    const sql = Object.assign(Object.create(ledger.sql), {
      rows: (...given: Parameters<typeof ledger.sql.rows>) => (statements++, ledger.sql.rows(...given)),
      within: (_: number, work: () => unknown) => work(),
      tick: '',
    })
    const page = find(ledger.reader({ sql }), {
      type: 'Person',
      limit: 100,
      include: ['company', 'company.parent', 'teams'],
    })

    expect(page.results).toHaveLength(100)
    expect(statements).toBe(4)
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
    'a name that is no relation is refused with the names that are',
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

describe('the Event collection', () => {
  function tracked(): Ledger {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One', industry: 'tech' })
    ledger.put('Event', 'event_x', {
      name: 'Signed Up',
      type: 'track',
      source: 'Browser',
      userId: 'u1',
      company: 'company_1',
      timestamp: '2026-01-01T00:00:00.000Z',
    })
    ledger.put('Company', 'company_1', { name: 'Uno', industry: 'tech' })
    ledger.put('Person', 'person_1', { name: 'Ada' })
    return ledger
  }

  test('it holds tracked events and the event of every verb', () => {
    const ledger = tracked()
    const { results, total } = ask(ledger, 'Event')

    expect(results.map((row) => (JSON.parse(row.data) as JsonObject).name)).toEqual([
      'Person.created',
      'Company.updated',
      'Signed Up',
      'Company.created',
    ])
    expect(total).toBe(4)
    expect(JSON.parse(results[1]!.data)).toEqual({
      name: 'Company.updated',
      type: 'verb',
      source: 'API',
      timestamp: '2026-01-01T00:00:00.003Z',
      data: { name: 'Uno', industry: 'tech', $id: 'company_1', $type: 'Company' },
      properties: { verb: 'update', entityType: 'Company', entityId: 'company_1', version: 2 },
    })
    expect(results[1]).toMatchObject({ type: 'Event', version: 1, n: 3 })
  })

  test.each<[object, number]>([
    [{ name: 'Company.updated' }, 1],
    [{ name: 'Signed Up' }, 1],
    [{ type: 'verb' }, 3],
    [{ type: 'track' }, 1],
    [{ type: { $ne: 'verb' } }, 1],
    [{ source: 'Browser' }, 1],
    [{ source: 'API' }, 3],
    [{ userId: null }, 3],
    [{ userId: { $exists: true } }, 1],
    [{ 'data.name': 'Uno' }, 1],
    [{ 'data.$id': 'company_1' }, 2],
    [{ 'properties.version': 2 }, 1],
    [{ timestamp: { $gt: '2026-01-01T00:00:00.003Z' } }, 1],
    [{ 'company.name': 'Uno' }, 1],
    [{ name: { $regex: '^Company' } }, 2],
    [{ name: { $in: ['Company.created', 'Signed Up'] } }, 2],
    [{ $text: 'sign' }, 1],
    [{ $text: 'company.upd' }, 1],
    [{ $id: 'event_x' }, 1],
    [{ type: { $in: ['verb', 'track'] } }, 4],
  ])('%j finds %i', (filter, found) => {
    const page = ask(tracked(), 'Event', filter)

    expect(page.results).toHaveLength(found)
    expect(count(tracked().reader(), { type: 'Event', filter: tracked().filter('Event', filter) })).toBe(found)
  })

  test('events of hidden types are left out, and as of an event it ends there', () => {
    const ledger = tracked()
    const reader = ledger.reader({ hidden: (type) => type === 'Company' })

    expect(find(reader, { type: 'Event' }).total).toBe(2)
    expect(get(reader, 'Event', 'event_1')).toBeUndefined()
    expect(get(ledger.reader(), 'Event', 'event_1')).toMatchObject({ id: 'event_1', type: 'Event' })
    expect(ask(ledger, 'Event', {}, { asOf: 2 }).total).toBe(2)
    expect(
      (get(ledger.reader(), 'Company', 'company_1', { include: ['events'] })!.extra as { events: JsonObject[] }).events,
    ).toMatchObject([{ $id: 'event_x' }])
    expect(ids(ask(ledger, 'Company', { 'events.userId': 'u1' }))).toEqual(['company_1'])
  })
})

describe('narrowing', () => {
  test('rows that a reader may not see are not there, not through relations either', () => {
    const ledger = opened()
    ledger.put('Company', 'company_1', { name: 'One', industry: 'tech' })
    ledger.put('Company', 'company_2', { name: 'Two', industry: 'food' })
    ledger.put('Person', 'person_1', { name: 'Ada', company: 'company_1' })
    ledger.put('Person', 'person_2', { name: 'Bob', company: 'company_2' })
    const narrow = (type: string): Filter | null =>
      type === 'Company' ? ledger.filter('Company', { industry: 'tech' }) : null
    const reader = ledger.reader({ narrow })
    const people = (filter: unknown) => ids(find(reader, { type: 'Person', filter: ledger.filter('Person', filter) }))

    expect(ids(find(reader, { type: 'Company' }))).toEqual(['company_1'])
    expect(people({ 'company.name': { $exists: true } })).toEqual(['person_1'])
    expect(people({ 'company.name': { $regex: '.' } })).toEqual(['person_1'])
    expect(people({ 'company.name': null })).toEqual(['person_2'])
    expect(
      find(reader, { type: 'Person', include: ['company'] }).results.map((row) => row.extra?.company === null),
    ).toEqual([true, false])
    expect(
      (get(reader, 'Company', 'company_1', { include: ['people'] })!.extra as { people: JsonObject[] }).people,
    ).toHaveLength(1)
  })
})

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

  test('a cursor goes on under an operand that moves with the time', () => {
    const ledger = five()
    const first = ask(ledger, 'Person', { $createdAt: { $gt: '7d ago' } }, { limit: 3 })
    ledger.now += 60_000
    const second = ask(ledger, 'Person', { $createdAt: { $gt: '7d ago' } }, { limit: 3, cursor: first.cursor })

    expect([...ids(first), ...ids(second)]).toHaveLength(5)
  })
})

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

  test('a question over its budget ends with query_timeout', () => {
    const ledger = opened()
    for (let i = 0; i < 2_000; i++) ledger.put('Person', `person_${i}`, { name: 'x'.repeat(100), notes: 1 })
    const query = { type: 'Person', filter: ledger.filter('Person', { name: { $regex: 'y' } }) }

    expect(() => find(ledger.reader({ budgetMs: 0 }), query)).toThrow(
      expect.objectContaining({ code: 'query_timeout' }),
    )
    expect(find(ledger.reader(), query).total).toBe(0)
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
  const texts = new Set<string>()
  const sql = Object.assign(Object.create(ledger.sql), {
    rows: (text: string, ...values: []) => (texts.add(text), ledger.sql.rows(text, ...values)),
    within: (_: number, work: () => unknown) => work(),
    tick: ledger.sql.tick,
  })
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
    if (!/["\\\u0000]/.test(word)) expect(found({}, `${word.replaceAll(',', '')}`)).toEqual(['person_1'])
  }
  expect([...texts].filter((text) => EVIL.some((word) => word.length > 3 && text.includes(word)))).toEqual([])
  // The text depends on the shape of a question alone.
  expect(texts.size).toBeLessThan(25)
})

test('an unknown field in a sort is a field that nobody has, and a bad one is told', () => {
  const ledger = opened()
  ledger.put('Person', 'person_1', { name: 'Ada' })

  expect(ids(ask(ledger, 'Person', {}, { order: 'whatever' }))).toEqual(['person_1'])
  for (const order of ['$nope', 'company.name', ',', '-'])
    expect(() => ask(ledger, 'Person', {}, { order })).toThrow(expect.objectContaining({ code: 'invalid_sort' }))
})

test('fields keep $id, $type and embedded relations', () => {
  const entity = { $id: 'a', $type: 'Person', $version: 1, name: 'Ada', email: 'x', company: { $id: 'c' } }

  expect(project(entity, parseFields('name', Person), ['company.people'])).toEqual({
    $id: 'a',
    $type: 'Person',
    name: 'Ada',
    company: { $id: 'c' },
  })
  expect(project(entity, parseFields('', Person))).toBe(entity)
  for (const bad of ['name,', '$nope', 'a.b'])
    expect(() => parseFields(bad, Person)).toThrow(expect.objectContaining({ code: 'invalid_fields' }))
})

test('entities are grouped and measured', () => {
  const ledger = opened()
  ledger.put('Company', 'company_1', { industry: 'tech' })
  for (let i = 0; i < 6; i++)
    ledger.put('Person', `person_${i}`, {
      name: `P${i}`,
      age: i,
      level: i % 3 === 0 ? 'High' : 'Low',
      ...(i < 2 && { company: 'company_1' }),
      flag: i === 5 ? 1 : i === 4,
    })

  expect(
    aggregate(ledger.reader(), Person, { group: ['level'], sum: ['age'], avg: ['age'], min: ['name'], max: ['age'] }),
  ).toEqual({
    results: [
      { level: 'Low', count: 4, sum: { age: 12 }, avg: { age: 3 }, min: { name: 'P1' }, max: { age: 5 } },
      { level: 'High', count: 2, sum: { age: 3 }, avg: { age: 1.5 }, min: { name: 'P0' }, max: { age: 3 } },
    ],
    total: 6,
  })
  expect(aggregate(ledger.reader(), Person, { group: ['company.industry'] }).results).toEqual([
    { 'company.industry': null, count: 4 },
    { 'company.industry': 'tech', count: 2 },
  ])
  expect(aggregate(ledger.reader(), Person, { group: ['flag'] }).results).toHaveLength(3)
  expect(
    aggregate(ledger.reader(), Person, { sum: ['age'], filter: ledger.filter('Person', { name: { $regex: '[45]' } }) }),
  ).toEqual({ results: [{ count: 2, sum: { age: 9 } }], total: 2 })
  expect(
    aggregate(ledger.reader(), Person, { sum: ['age'], filter: ledger.filter('Person', { name: 'nobody' }) }),
  ).toEqual({ results: [{ count: 0, sum: { age: 0 } }], total: 0 })
  expect(() => aggregate(ledger.reader(), Person, { group: ['company.people.name'] })).toThrow(
    expect.objectContaining({ code: 'invalid_group' }),
  )
})

test('every type of the catalogue can be listed, filtered and sorted by all of its fields', () => {
  const ledger = new Ledger(nounsOf(Object.values(catalogue) as unknown as Noun[]))

  for (const type of ledger.nouns.all) {
    for (const field of Object.values(type.fields)) {
      if (field.kind === 'secret') continue
      expect(
        find(ledger.reader(), { type: type.name, filter: ledger.filter(type.name, { [field.name]: null }) }).results
          .length,
      ).toBeGreaterThanOrEqual(0)
      if (field.kind !== 'back')
        expect(
          find(ledger.reader(), { type: type.name, sort: parseSort(field.name, type, ledger.nouns) }).results.length,
        ).toBeGreaterThanOrEqual(0)
    }
  }
})
