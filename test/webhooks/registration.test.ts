import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let open: TestHost

beforeAll(async () => {
  host = await testHost()
  open = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => Promise.all([host.stop(), open.stop()]))

const register = (body: object, on = host) => on.request('POST', '/~acme/webhooks', body)

verifies(
  [
    'webhook.register',
    'webhook.register.answer',
    'webhook.register.active',
    'webhook.id',
    'webhook.createdAt',
    'webhook.secret',
    'webhook.status',
  ],
  'registering answers 201 with the id, url, events, an active status and the time, and the secret this once',
  async () => {
    const { status, body } = await register({ url: 'https://example.com/hook', events: ['Contact.created'] })

    expect(status).toBe(201)
    expect(body).toMatchObject({
      $id: expect.stringMatching(/^webhook_\w{16,}$/),
      url: 'https://example.com/hook',
      events: ['Contact.created'],
      status: 'active',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      secret: expect.stringMatching(/^whsec_/),
    })
    const read = await host.request('GET', `/~acme/webhooks/${body.$id}`)
    expect(read.body).not.toHaveProperty('secret')
    const set = await host.request('PUT', `/~acme/webhooks/${body.$id}`, { status: 'failing', description: 'x' })
    expect(set.body).toMatchObject({ status: 'active', description: 'x' })
  },
)

verifies(
  ['webhook.url', 'webhook.https', 'webhook.insecure.schemes'],
  'a url must be https; insecure mode takes http too and nothing else',
  async () => {
    const refused = [
      'http://example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'example.com',
      '',
    ]
    for (const url of refused) {
      const { status, body } = await register({ url, events: ['*'] })
      expect([url, status, body.details?.[0].field]).toEqual([url, 422, 'url'])
    }
    for (const [url, status] of [
      ['http://example.com/', 201],
      ['https://example.com/', 201],
      ['ftp://example.com/', 422],
    ] as const) {
      expect([url, (await register({ url, events: ['*'] }, open)).status]).toEqual([url, status])
    }
    expect((await register({ url: 'https://user:pass@example.com/', events: ['*'] })).status).toBe(422)
    expect((await register({ url: `https://example.com/${'a'.repeat(3_000)}`, events: ['*'] })).status).toBe(422)
  },
)

verifies(['webhook.events', 'webhook.patterns'], 'events is a list of one to a hundred patterns', async () => {
  const url = 'https://example.com/'
  const fine = ['*', '*.created', 'Contact.*', 'Contact.created', 'contact.Created']
  expect((await register({ url, events: fine })).status).toBe(201)
  for (const events of [undefined, [], 'Contact.created', ['Contact'], ['a.b.c'], [''], [7], Array(101).fill('*')]) {
    const { status, body } = await register({ url, events })
    expect([events, status, body.details?.[0].field]).toEqual([events, 422, expect.stringMatching(/^events/)])
  }
})

describe('a filter and a beginning', () => {
  test('are checked when the webhook is written', async () => {
    const base = { url: 'https://example.com/', events: ['*'] }
    expect((await register({ ...base, filter: { 'data.value': { $gte: 1 }, changed: 'stage' } })).status).toBe(201)
    expect((await register({ ...base, filter: { 'data.value': { $near: 1 } } })).body.details[0].field).toBe('filter')
    for (const from of [0, 12, '2026-01-31T12:00:00Z', 'now', '7d ago']) {
      expect([from, (await register({ ...base, from })).status]).toEqual([from, 201])
    }
    for (const from of [-1, 1.5, 'yesterday', {}]) {
      expect([from, (await register({ ...base, from })).body.details?.[0].field]).toEqual([from, 'from'])
    }
  })
})

test('only an administrator of the platform sees webhooks', async () => {
  const writer = await host.key('acme', 'write:all')
  const admin = await host.key('acme', 'admin:Webhook')
  const { body } = await register({ url: 'https://example.com/', events: ['*'] })

  for (const [method, path] of [
    ['GET', ''],
    ['GET', `/${body.$id}`],
    ['GET', `/${body.$id}/deliveries`],
    ['POST', `/${body.$id}/rotate`],
    ['POST', `/${body.$id}/test`],
    ['POST', `/${body.$id}/redeliver`],
  ] as const) {
    expect([path, (await host.as(writer)(method, `/~acme/webhooks${path}`)).status]).toEqual([path, 403])
  }
  expect((await host.as(admin)('GET', `/~acme/webhooks/${body.$id}/deliveries`)).status).toBe(200)
  expect((await host.request('GET', '/~acme/webhooks/webhook_none/deliveries')).status).toBe(404)
})

test('creating one with an Idempotency-Key twice tells the secret once', async () => {
  const headers = { 'idempotency-key': 'one' }
  const body = { url: 'https://example.com/', events: ['*'] }

  const first = await host.request('POST', '/~acme/webhooks', body, headers)
  const again = await host.request('POST', '/~acme/webhooks', body, headers)

  expect(again.body.$id).toBe(first.body.$id)
  expect(first.body.secret).toMatch(/^whsec_/)
  expect(again.body).not.toHaveProperty('secret')
})
