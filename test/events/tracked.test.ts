import { Hooks, registryOf } from '@tildebase/tenant/hooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)
const track = (fields: object) => sent('POST', '/~acme/events', fields)

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

describe('a tracked event', () => {
  test('has one version, and so has the event of a verb', async () => {
    const { body: event } = await track({ name: 'seen', type: 'page' })
    const { body: contact } = await sent('POST', '/~acme/Contact', { name: 'Vera' })
    const { body: changes } = await sent('GET', '/~acme/events?type=Contact.created')
    const { id } = changes.results.at(-1)

    const tracked = await sent('GET', `/~acme/events/${event.$id}/history`)
    const ofVerb = await sent('GET', `/~acme/Event/${id}/history`)
    const none = await sent('GET', '/~acme/Event/event_none/history')

    expect([tracked.status, tracked.body]).toMatchObject([
      200,
      { results: [{ version: 1, verb: 'create', data: { name: 'seen' }, previous: null }], total: 1, hasMore: false },
    ])
    expect(ofVerb.body.results).toMatchObject([
      { version: 1, verb: 'create', event: 'created', data: { name: 'Contact.created', data: { $id: contact.$id } } },
    ])
    expect(none.status).toBe(404)
  })

  verifies(
    [
      'event.name',
      'event.type',
      'event.data',
      'event.source',
      'event.session',
      'event.organization',
      'event.page',
      'event.properties',
    ],
    'has the fields of the Event resource, each of its kind',
    async () => {
      const { body: org } = await sent('POST', '/~acme/Organization', { name: 'Org' })
      const whole = {
        name: 'pageview',
        type: 'page',
        data: { any: [1, { deep: true }] },
        source: 'Browser',
        sessionId: 's1',
        userId: 'u1',
        anonymousId: 'a1',
        organization: org.$id,
        timestamp: '2026-01-02T03:04:05.678Z',
        url: 'https://example.org/x?y=1',
        path: '/x',
        referrer: 'https://example.org/',
        properties: { plan: 'pro' },
      }

      const made = await track(whole)
      const read = await sent('GET', `/~acme/events/${made.body.$id}?include=organization`)
      const wrong = await track({
        source: 'Carrier pigeon',
        sessionId: 1,
        userId: {},
        anonymousId: [],
        organization: 'organization_none',
        url: 1,
        path: 2,
        referrer: 3,
        timestamp: 'noon',
      })

      expect(made.status).toBe(201)
      expect(made.body).toMatchObject(whole)
      expect(read.body.organization).toMatchObject({ $id: org.$id, name: 'Org' })
      expect(wrong.status).toBe(422)
      expect(wrong.body.details.map((issue: { field: string }) => issue.field).sort()).toEqual([
        'anonymousId',
        'name',
        'organization',
        'path',
        'referrer',
        'sessionId',
        'source',
        'timestamp',
        'type',
        'url',
        'userId',
      ])
    },
  )
})

describe('the names of events', () => {
  verifies(
    [
      'event.names',
      'event.names.builtin',
      'event.names.custom',
      'event.names.apiKey',
      'event.case.wire',
      'log.previous',
    ],
    'are Entity.past, and previous tells what changed',
    async () => {
      const at = (path: string) => `/~names${path}`
      const { body: contact } = await sent('POST', at('/Contact'), { name: 'Ada', phone: '1' })
      await sent('PUT', at(`/Contact/${contact.$id}`), { phone: '2', title: 'Dr' })
      await sent('POST', at(`/Contact/${contact.$id}/qualify`))
      await sent('DELETE', at(`/Contact/${contact.$id}`))
      const { body: deal } = await sent('POST', at('/Deal'), { name: 'D' })
      await sent('POST', at(`/Deal/${deal.$id}/close`))
      const { body: subscription } = await sent('POST', at('/Subscription'), {})
      await sent('POST', at(`/Subscription/${subscription.$id}/upgrade`))
      const { body: key } = await sent('POST', at('/api-keys'), { name: 'k' })
      await sent('PUT', at(`/api-keys/${key.$id}`), { name: 'l' })
      await sent('POST', at(`/api-keys/${key.$id}/revoke`))
      await sent('DELETE', at(`/api-keys/${key.$id}`))

      const { body } = await sent('GET', at('/events'))

      expect(body.results.map((event: { type: string }) => event.type)).toEqual([
        'Contact.created',
        'Contact.updated',
        'Contact.qualified',
        'Contact.deleted',
        'Deal.created',
        'Deal.closed',
        'Subscription.created',
        'Subscription.upgraded',
        'ApiKey.created',
        'ApiKey.updated',
        'ApiKey.revoked',
        'ApiKey.deleted',
      ])
      expect(body.results.map((event: { previous?: unknown }) => event.previous)).toEqual([
        undefined,
        { phone: '1', title: null },
        { stage: 'Lead' },
        undefined,
        undefined,
        { stage: 'Prospecting', actualCloseDate: null },
        undefined,
        {},
        undefined,
        { name: 'k' },
        { status: 'Active' },
        undefined,
      ])
    },
  )
})

verifies('hook.perVerb', 'in-process hooks exist before and after each verb', async () => {
  const steps: string[] = []
  const hooks = new Hooks()
  const on = registryOf(hooks).Contact!
  for (const step of [
    'creating',
    'created',
    'updating',
    'updated',
    'qualifying',
    'qualified',
    'deleting',
    'deleted',
    'restoring',
    'restored',
    'rollingBack',
  ])
    on[step]!(() => void steps.push(step))
  const { tenant, clock } = openAcme({ hooks })
  const run = async (verb: string, data: object = {}, id?: string) => {
    clock.at += 1_000
    const { entity } = tenant.act({ type: 'Contact', verb, data, id, actor: 't' })
    await tenant.wake()
    return entity.id
  }

  const id = await run('create', { name: 'Ada' })
  const asOf = new Date(clock.at).toISOString()
  for (const verb of ['update', 'qualify']) await run(verb, { phone: verb }, id)
  await run('rollback', { asOf }, id)
  for (const verb of ['delete', 'restore']) await run(verb, {}, id)

  expect(steps).toEqual([
    'creating',
    'created',
    'updating',
    'updated',
    'qualifying',
    'qualified',
    'rollingBack',
    'updated',
    'deleting',
    'deleted',
    'restoring',
    'restored',
  ])
})

verifies('log.time', 'timestamps never decrease, even when the clock is set back', () => {
  const { tenant, clock } = openAcme()
  const times: number[] = []
  for (const step of [0, 5_000, -60_000, 1, -1, 120_000]) {
    clock.at += step
    times.push(tenant.act({ type: 'Contact', verb: 'create', data: { name: 'x' }, actor: 't' }).event!.at)
  }

  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

verifies(['host.storage', 'host.cache'], 'each tenant has its own file, log and memory', async () => {
  await sent('POST', '/~first/Contact', { name: 'Ada' })
  await sent('POST', '/~second/Contact', { name: 'Bob' })
  await sent('GET', '/~first/Contact')

  const [first, second] = await Promise.all(['first', 'second'].map((slug) => sent('GET', `/~${slug}/events`)))
  await sent('POST', '/~second/Contact', { name: 'Eve' })

  expect([first, second].map((reply) => reply!.body.results.map((event: { seq: number }) => event.seq))).toEqual([
    [1],
    [1],
  ])
  expect((await sent('GET', '/~first/Contact')).body.total).toBe(1)
  expect((await sent('GET', '/~second/Contact')).body.total).toBe(2)
})

test('an array of events is taken in one request', async () => {
  const { status, body } = await sent('POST', '/~many/events', [
    { name: 'a', type: 'track' },
    { name: 'b', type: 'track' },
  ])

  expect(status).toBe(201)
  expect(body.results.map((event: { name: string }) => event.name)).toEqual(['a', 'b'])
})
