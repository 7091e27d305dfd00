import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)
const filter = (value: object) => encodeURIComponent(JSON.stringify(value))

beforeAll(async () => {
  host = await testApp()
  const { body: org } = await sent('POST', '/~acme/Organization', { name: 'Org', industry: 'finance' })
  for (const [name, value, stage] of [
    ['a', 1, 'Prospecting'],
    ['b', 2, 'Prospecting'],
    ['c', 10, 'Proposal'],
  ] as const) {
    await sent('POST', '/~acme/Deal', { name, value, stage, organization: org.$id })
  }
})
afterAll(() => host.stop())

describe('aggregate', () => {
  test('groups, counts and measures', async () => {
    const { status, body } = await sent(
      'GET',
      '/~acme/Deal/aggregate?group=stage&sum=value&avg=value&min=value&max=value',
    )

    expect(status).toBe(200)
    expect(body).toEqual({
      results: [
        {
          stage: 'Prospecting',
          count: 2,
          sum: { value: 3 },
          avg: { value: 1.5 },
          min: { value: 1 },
          max: { value: 2 },
        },
        { stage: 'Proposal', count: 1, sum: { value: 10 }, avg: { value: 10 }, min: { value: 10 }, max: { value: 10 } },
      ],
      total: 3,
    })
  })

  test('groups through relations, under a filter', async () => {
    const { body } = await sent(
      'GET',
      `/~acme/Deal/aggregate?group=organization.industry&sum=value&filter=${filter({ value: { $gt: 1 } })}`,
    )

    expect(body).toEqual({ results: [{ 'organization.industry': 'finance', count: 2, sum: { value: 12 } }], total: 2 })
  })

  test('needs the right to read what it groups by, and fields that are there', async () => {
    const key = host.as(await host.key('acme', 'read:Deal'))

    expect((await key('GET', '/~acme/Deal/aggregate?group=organization.industry')).status).toBe(403)
    expect((await key('GET', '/~acme/Deal/aggregate?group=stage')).status).toBe(200)
    expect((await sent('GET', '/~acme/Deal/aggregate?group=organization.parent.parent.parent.name')).body.error).toBe(
      'invalid_group',
    )
  })
})

test('explain shows the query plan of a list to administrators only', async () => {
  const admin = await sent('GET', '/~acme/Contact?email=x@y.z&explain=true')
  const other = await host.as(await host.key('acme', 'read:all'))('GET', '/~acme/Contact?explain=true')

  expect(admin.status).toBe(200)
  expect(JSON.stringify(admin.body)).toContain('field_index')
  expect(other.status).toBe(403)
})

test('a query over its budget ends with 422, and its neighbours continue', async () => {
  const slow = await testApp({ TILDE_QUERY_TIMEOUT: '150ms' })
  const rows = Array.from({ length: 10 }, (_, i) => ({ name: `n${i}`, notes: 'x'.repeat(50_000) }))
  // On a busy machine a write is over the budget as well, and continues as a task. An import would be refused.
  for (let i = 0; i < 50; i++) await Promise.all(rows.map((row) => slow.request('POST', '/~big/Contact', row)))
  await expect.poll(async () => (await slow.request('GET', '/~big/Contact/count')).body.count).toBe(500)

  // For each letter it looks at all that follow.
  const late = await slow.request('GET', `/~big/Contact?filter=${filter({ notes: { $regex: 'x+y' } })}`)
  const near = await slow.request('GET', '/~small/Contact')
  await slow.stop()

  expect([late.status, late.body.error]).toEqual([422, 'over_budget'])
  expect(near.status).toBe(200)
})

describe('a list that is asked again', () => {
  const ask = (query: string, key?: string) =>
    host.request('GET', `/~again/Ship?${query}`, undefined, key === undefined ? {} : { authorization: `Bearer ${key}` })

  beforeAll(async () => {
    await sent('PUT', '/~again/schema/Port', { name: 'string!' })
    await sent('PUT', '/~again/schema/Ship', { name: 'string!', flag: 'string#', home: '-> Port' })
    await sent('POST', '/~again/Ship', { name: 'Beagle', flag: 'uk' })
  })

  test('tells of what was written meanwhile', async () => {
    const { body: before } = await ask('flag=uk&limit=1')
    await sent('POST', '/~again/Ship', { name: 'Erebus', flag: 'uk' })
    const { body: after } = await ask('flag=uk&limit=1')

    expect([before.total, before.hasMore, before.results[0].name]).toEqual([1, false, 'Beagle'])
    expect([after.total, after.hasMore, after.results[0].name]).toEqual([2, true, 'Erebus'])
  })

  test('is refused once the key may not see what it includes', async () => {
    const { body: key } = await sent('POST', '/~again/api-keys', { name: 'k', scopes: 'read:Ship,read:Port' })
    const { status: before } = await ask('flag=uk&include=home', key.secret)
    await sent('PUT', `/~again/api-keys/${key.$id}`, { scopes: 'read:Ship' })
    const { status: after } = await ask('flag=uk&include=home', key.secret)

    expect([before, after]).toEqual([200, 403])
  })

  test('is asked of the type as it is by then', async () => {
    const { body: before } = await ask('flag=uk')
    await sent('PUT', '/~again/schema/Ship', { name: 'string!', flag: 'number#', home: '-> Port' })
    const { status, body: after } = await ask('flag=uk')

    expect(before.total).toBe(2)
    expect([status, after.field]).toEqual([400, 'flag'])
  })
})

test('a parameter of ours leaves a field of that name to the type that declares it', async () => {
  for (const [number, total] of [
    ['1', 100],
    ['2', 250],
  ] as const)
    await sent('POST', '/~acme/Invoice', { number, total })

  const { status, body } = await sent('GET', '/~acme/Invoice?total=250')
  const exported = await sent('GET', '/~acme/export/Invoice?total=250&format=ndjson')
  const uncounted = await sent('GET', '/~acme/Deal?total=false')

  expect([status, body.total, body.results[0]?.number]).toEqual([200, 1, '2'])
  expect(
    exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).number),
  ).toEqual(['2'])
  expect(uncounted.body).not.toHaveProperty('total')
})

test('the error for a filter that is not JSON lists the operators', async () => {
  const { status, body } = await sent('GET', '/~acme/Deal?filter={')

  expect([status, body.error, body.field]).toEqual([400, 'invalid_filter', 'filter'])
  expect(body.supported).toContain('$gte')
})

test('a time is understood also when its plus was not escaped', async () => {
  const later = '2100-01-01T00:00:00+02:00'

  const escaped = await sent('GET', `/~acme/Deal?asOf=${encodeURIComponent(later)}`)
  const plain = await sent('GET', `/~acme/Deal?asOf=${later}`)
  const events = await sent('GET', `/~acme/events?since=${later}`)

  expect([plain.status, plain.body]).toEqual([200, escaped.body])
  expect([events.status, events.body.results]).toEqual([200, []])
})

test('sort is taken in the form of the SDK too', async () => {
  const names = async (sort: string) => {
    const { body } = await sent('GET', `/~acme/Deal?sort=${encodeURIComponent(sort)}`)
    return body.results?.map(({ name }: { name: string }) => name) ?? body.error
  }

  expect(await names('{"stage":1,"value":-1}')).toEqual(await names('stage,-value'))
  expect(await names('{"value":2}')).toBe('invalid_sort')
  expect(await names('{"value"')).toBe('invalid_sort')
})

test('a list as of a time is the same whenever it is asked for, and one as of now follows what happens', async () => {
  const { body: made } = await sent('POST', '/~acme/Contact', { name: 'Ada', email: 'then@example.org' })
  await nextMillisecond()
  const then = new Date().toISOString()
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const phones = async (asOf: string) => {
    const { body } = await sent('GET', `/~acme/Contact?email=then@example.org&asOf=${asOf}`)
    return body.results.map(({ phone }: { phone?: string }) => phone ?? null)
  }
  const change = async (phone: string) => {
    await nextMillisecond()
    await sent('PUT', `/~acme/Contact/${made.$id}`, { phone })
    return [...(await phones(then)), ...(await phones(later))]
  }
  await nextMillisecond()
  await sent('POST', '/~acme/Contact', { name: 'Eve' })

  expect(await phones(then)).toEqual([null])
  expect([await change('1'), await change('2'), await change('3')]).toEqual([
    [null, '1'],
    [null, '2'],
    [null, '3'],
  ])
})

test('a plain parameter that is given twice must hold twice', async () => {
  for (const tags of [['a'], ['a', 'b']]) await sent('POST', '/~acme/Lead', { name: 'tagged', tags })

  const one = await sent('GET', '/~acme/Lead?tags=a')
  const both = await sent('GET', '/~acme/Lead?tags=a&tags=b')
  const count = await sent('GET', '/~acme/Lead/count?name=tagged&name=other')

  expect([one.body.total, both.body.total, count.body.count]).toEqual([2, 1, 0])
})

test.each([
  ['Deal?limit=1&limit=2', 'limit'],
  ['Deal?filter={}&filter={"stage":"Proposal"}', 'filter'],
  ['Deal?asOf=1&asOf=2', 'asOf'],
  ['Deal?sort=name&sort=value', 'sort'],
  ['export/Deal?format=csv&format=json', 'format'],
  ['events?since=2026-01-01&since=2027-01-01', 'since'],
  ['events?cursor=1&cursor=2', 'cursor'],
  ['Deal/deal_1?asOf=1&asOf=2', 'asOf'],
  ['Deal/deal_1/diff?from=1&from=2&to=3', 'from'],
])('%s is refused: one of them would not count', async (path, field) => {
  const { status, body } = await sent('GET', `/~acme/${path}`)

  expect([status, body.error, body.field]).toEqual([400, 'invalid_parameter', field])
})

test('sums and averages have 15 digits, as computed fields have them', async () => {
  for (const value of [0.1, 0.2])
    await sent('POST', '/~acme/Product', { name: 'p', price: value, weight: 4_503_599_627_370_495 })

  const { body } = await sent('GET', '/~acme/Product/aggregate?sum=price,weight&avg=price')

  expect(body.results).toEqual([{ count: 2, sum: { price: 0.3, weight: 9_007_199_254_740_990 }, avg: { price: 0.15 } }])
})

test('groups and measures may be given one by one', async () => {
  const { body: together } = await sent('GET', '/~acme/Deal/aggregate?group=stage,name&max=value,probability')
  const { body: apart } = await sent('GET', '/~acme/Deal/aggregate?group=stage&group=name&max=value&max=probability')
  const operations = [
    {
      id: 'a',
      method: 'GET',
      path: 'Deal/aggregate',
      query: { group: ['stage', 'name'], max: ['value', 'probability'] },
    },
  ]
  const { body: batch } = await sent('POST', '/~acme/batch', { operations })

  expect(together.results[0]).toHaveProperty('name')
  expect([apart, batch.results[0].body]).toEqual([together, together])
})
