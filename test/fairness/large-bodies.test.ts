import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i))

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.request('PUT', '/~acme/schema/Big', { name: 'string', words: 'string[]', kinds: 'Lead | Customer[]' })
  const fields = Object.fromEntries(many(190, (i) => [`field${i}`, 'string']))
  await app.request('PUT', '/~acme/schema/Strict', { ...fields, $strict: true })
})
afterAll(() => app.stop())

const MOST = 100

describe('of a body with many faults, the first hundred are reported', () => {
  const named = (count: number) => Object.fromEntries(many(count, (i) => [`fiel${i}`, 1]))
  test.each([
    ['elements of a list', '/Big', () => ({ words: many(1_000_000, () => 1) })],
    ['values of a choice', '/Big', () => ({ kinds: many(500_000, () => 'Leed') })],
    ['fields of a strict type', '/Strict', () => named(15_000)],
    ['names that no field may have', '/Big', () => `{"x":[${many(150_000, () => '{"__proto__":1}').join(',')}]}`],
    ['scopes of a key', '/api-keys', () => ({ name: 'k', scopes: many(1_000_000, (i) => `x${i}`).join(',') })],
  ])('%s', async (_, path, body) => {
    const { status, body: answer, text } = await app.request('POST', `/~acme${path}`, body())

    expect([status, answer.error, answer.details.length]).toEqual([422, 'validation_error', MOST])
    expect(answer.message).toContain('; and more')
    expect(text.length).toBeLessThan(100_000)
  })

  test('rows of an import', async () => {
    const rows = many(3, () => ({ words: many(300_000, () => 1) }))

    const { body, text } = await app.request('POST', '/~acme/import/Big', rows)

    expect([body.imported, body.errors, body.details.length]).toEqual([0, 3, 3])
    expect(text.length).toBeLessThan(100_000)
  })

  test('parts of a declaration', async () => {
    const { status, body } = await app.request('POST', '/~acme/schema/plan', named(15_000))

    expect([status, body.message]).toEqual([422, expect.stringContaining('has 15000 parts; at most 1000')])
  })
})

describe('names that nothing has are collected once', () => {
  const parts = many(40_000, (i) => ({ type: 'Contact', data: { [`more${i % 15_000}`]: 1 } }))

  test('from the operations of a changeset', async () => {
    const { status, body } = await app.request('POST', '/~acme/changesets', { title: 'many', operations: parts })

    expect([status, body.error]).toEqual([400, 'too_many'])
  })

  test('from the changes of a sync', async () => {
    const { status, body } = await app.request('POST', '/~acme/sync', { changes: parts })

    expect([status, body.error]).toEqual([400, 'too_many'])
  })
})

test('the columns of an import are compared once, however long their names are', async () => {
  const columns = many(2_000, (i) => `${'column '.repeat(250)}${i}`)
  const csv = `E-Mail,${columns.slice(1).join(',')}\nada@example.org\n`
  const headers = { 'content-type': 'text/csv' }

  const { body } = await app.request('POST', '/~acme/import/Contact', csv, headers)
  const twice = await app.request('POST', '/~acme/import/Contact', `a,b,a\n1,2,3\n`, headers)
  const both = await app.request('POST', '/~acme/import/Contact', `E-Mail,e mail\n1,2\n`, headers)

  expect(body.assumed).toEqual({ columns: { 'E-Mail': 'email' } })
  expect(twice.body.message).toContain('"a" twice')
  expect(both.body.assumed).toBeUndefined()
})

describe('a query', () => {
  test('with many parameters, one of them twice, is read once and refused', async () => {
    const names = many(9_000, (i) => i.toString(36)).join('&')

    const { status, body } = await app.request('GET', `/~acme/Contact?stage=Lead&stage=Lead&${names}`)

    expect([status, body.error, body.limit]).toEqual([400, 'invalid_filter', 500])
  })

  test('includes at most 100 relations', async () => {
    const include = many(101, () => 'deals.contact')
    const operations = [{ id: 'a', method: 'GET', path: '/Contact', query: { include } }]

    const { body } = await app.request('POST', '/~acme/batch', { operations })

    expect(body.results[0]).toMatchObject({ status: 400, body: { error: 'invalid_include', limit: 100 } })
  })

  test('of events names at most 100 of them', async () => {
    const { status, body } = await app.request('GET', `/~acme/events?type=${many(101, () => 'Contact').join(',')}`)

    expect([status, body.error, body.limit]).toEqual([400, 'invalid_parameter', 100])
  })
})

test('a list of many references is compared with the one before once', async () => {
  const { body: contact } = await app.request('POST', '/~acme/Contact', { name: 'Ada' })
  await app.request('PUT', '/~acme/schema/Group', { members: '-> Contact[]' })
  const members = many(30_000, () => contact.$id)
  const { body: group } = await app.request('POST', '/~acme/Group', { members })

  const { status } = await app.request('PUT', `/~acme/Group/${group.$id}`, { members: members.slice(1) })

  expect(status).toBe(200)
})

test('a funnel has at most 100 steps', async () => {
  const { body } = await app.request('POST', '/~acme/Funnel', { name: 'f', steps: ['a', 'b'] })

  const answer = await app.request('POST', `/~acme/Funnel/${body.$id}/analyze`, { steps: many(101, (i) => `s${i}`) })

  expect([answer.status, answer.body.details]).toEqual([422, [{ field: 'steps', message: 'may hold 100 steps' }]])
})

test('the rules of a flag look at so many elements of a context together, and no more', async () => {
  const rule = { filter: { n: -1 }, value: true }
  const flag = { name: 'f', key: 'f', type: 'Boolean', targetingRules: many(200, () => rule) }
  const { body } = await app.request('POST', '/~acme/FeatureFlag', flag)
  await app.request('POST', `/~acme/FeatureFlag/${body.$id}/enable`)
  const evaluate = (count: number) =>
    app.request('POST', '/~acme/FeatureFlag/f/evaluate', { userId: 'u', context: { n: many(count, (i) => i) } })

  const [few, more] = [await evaluate(1_000), await evaluate(100_000)]

  expect([few.status, few.body.reason]).toEqual([200, 'rollout'])
  expect([more.status, more.body.error]).toEqual([422, 'over_budget'])
})
