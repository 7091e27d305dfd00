import { Budget, OPERATOR } from '@tildebase/tenant'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { parseQuery } from '../../packages/tenant/src/query/parameters/parameters.ts'
import { readContextOf } from '../../packages/tenant/src/query/read-context.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { type TestApp, testApp } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'

const NUMBERS = Array.from({ length: 100_000 }, (_, i) => i % 10)
const conditions = (path: string, count: number) => ({
  $and: Array.from({ length: count }, (_, i) => ({ [path]: { $nin: [100 + i] } })),
})

let app: TestApp
beforeAll(async () => {
  app = await testApp({ TILDE_QUERY_TIMEOUT: '60s' })
  await app.request('PUT', '/~acme/schema/Big', { name: 'string', numbers: 'number[]', rows: 'json' })
  const rows = NUMBERS.map((n) => ({ n })).slice(0, 90_000)
  await app.request('POST', '/~acme/Big', { name: 'one', numbers: NUMBERS, rows })
})
afterAll(() => app.stop())

const ask = (filter: object) =>
  app.request('GET', `/~acme/Big/count?filter=${encodeURIComponent(JSON.stringify(filter))}`)

test.each(['numbers', 'rows.n'])(
  'a filter whose conditions look at millions of elements of %s in one entity is refused, and a small one is not',
  async (path) => {
    const small = await ask(conditions(path, 10))
    const large = await ask(conditions(path, 400))

    expect(small.body).toEqual({ count: 1 })
    expect([large.status, large.body.error, large.body.limit]).toEqual([422, 'over_budget', 'time'])
    expect(large.body.message).toContain('elements of lists in one entity')
  },
)

test('a long list that is compared with other lists is written as text once', async () => {
  const lists = { $and: Array.from({ length: 300 }, (_, i) => ({ numbers: { $nin: [[i], [i, i]] } })) }

  const { body } = await ask(lists)

  expect(body.error).toBe('over_budget')
})

test('the filters of all workflows share what they may look at in one event, and each looks at a few in any case', async () => {
  await app.request('PUT', '/~runs/schema/Big', { name: 'string', numbers: 'number[]' })
  const workflow = async (filter: object) => {
    const steps = [{ wait: '1d' }]
    const about = { name: 'w', status: 'Activated', triggerEvent: 'Big.created', filter, steps }
    return (await app.request('POST', '/~runs/Workflow', about)).body.$id
  }
  const ids = [
    await workflow(conditions('numbers', 15)),
    await workflow(conditions('numbers', 15)),
    await workflow({ name: 'two' }),
  ]

  await app.request('POST', '/~runs/Big', { name: 'two', numbers: NUMBERS })

  const runs = ids.map(async (id) => (await app.request('GET', `/~runs/Workflow/${id}/runs`)).body.results.length)
  expect(await Promise.all(runs)).toEqual([1, 0, 1])
})

test('the row filters of the keys of webhooks share it, too: an event that takes too long to look at is not sent', async () => {
  await app.request('PUT', '/~seen/schema/Big', { name: 'string', numbers: 'number[]' })
  const webhook = async (filter: object) => {
    const send = app.as(await app.key('seen', 'admin:all', { filter: { Big: filter } }))
    const about = { url: 'https://example.com/', events: ['Big.created'] }
    return (await send('POST', '/~seen/webhooks', about)).body.$id
  }
  const ids = [
    await webhook(conditions('numbers', 15)),
    await webhook(conditions('numbers', 15)),
    await webhook({ name: 'two' }),
  ]

  const { status } = await app.request('POST', '/~seen/Big', { name: 'two', numbers: NUMBERS })

  const sent = ids.map(async (id) => (await app.request('GET', `/~seen/webhooks/${id}/deliveries`)).body.results.length)
  expect([status, await Promise.all(sent)]).toEqual([201, [1, 0, 1]])
})

test('a large event is read once for the filters of all webhooks and workflows', async () => {
  const of = (type: string, about: object) => app.request('POST', `/~read/${type}`, about)
  for (let i = 0; i < 20; i++) {
    const filter = { description: { $regex: `^${i}x` } }
    await of('Workflow', {
      name: 'w',
      status: 'Activated',
      triggerEvent: 'Ticket.created',
      filter,
      steps: [{ wait: '1d' }],
    })
    const data = { 'data.description': { $regex: `^${i}x` } }
    await of('webhooks', { url: 'https://example.com/', events: ['Ticket.created'], filter: data })
  }
  const parse = vi.spyOn(JSON, 'parse')

  const { status } = await of('Ticket', { subject: 'large', description: 'a'.repeat(600_000) })

  const reads = parse.mock.calls.filter(([text]) => String(text).length > 600_000).length
  parse.mockRestore()
  expect([status, reads < 20]).toEqual([201, true])
})

test('the time of a question also ends inside of one entity', () => {
  const { tenant, close } = openAcme()
  tenant.write(OPERATOR, (write) => putType(write, 'Big', { numbers: 'number[]' }))
  tenant.act({ type: 'Big', verb: 'create', data: { numbers: NUMBERS }, actor: 'test' })
  const { engine } = tenant
  let looks = 0
  const most = Number.POSITIVE_INFINITY
  const budget = new Budget({ ms: 8, rows: most, bytes: most }, () => looks++)
  const query = parseQuery(engine, OPERATOR, engine.noun('Big'), conditions('numbers', 19), {})

  expect(() => find(readContextOf(engine, OPERATOR, budget), query)).toThrow('exceeded its 8 ms')
  close()
})

test('the filters of all webhooks share what they may look at in one event: one that has no more left sends it', async () => {
  const ids: string[] = []
  for (let i = 0; i < 2; i++) {
    const filter = { $and: [conditions('data.numbers', 15), { 'data.name': 'none' }] }
    const url = 'https://example.com/hook'
    const { body } = await app.request('POST', '/~acme/webhooks', { url, events: ['Big.updated'], filter })
    ids.push(body.$id)
  }
  const { body } = await app.request('GET', '/~acme/Big?fields=name')

  await app.request('PATCH', `/~acme/Big/${body.results[0].$id}`, { name: 'two' })
  const deliveries = ids.map((id) => app.request('GET', `/~acme/Webhook/${id}/deliveries`))
  const totals = (await Promise.all(deliveries)).map((one) => one.body.total)

  expect(totals).toEqual([0, 1])
})
