import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { Receiver, until } from '../receiver.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let receiver: Receiver
let tenant = 0

beforeAll(async () => {
  host = await testHost({
    TILDE_WEBHOOKS_INSECURE: '1',
    TILDE_WEBHOOK_RETRIES: '40ms,50ms,60ms,70ms,80ms',
  })
})
beforeEach(async () => {
  receiver = await Receiver.start()
  tenant++
})
afterEach(() => receiver.stop())
afterAll(() => host.stop())

const at = (path: string) => `/~hooks${tenant}${path}`
const register = async (more: object = {}) =>
  (await host.request('POST', at('/webhooks'), { url: receiver.url, events: ['*'], ...more })).body
const contact = async (name: string, more: object = {}) =>
  (await host.request('POST', at('/Contact'), { name, ...more })).body

verifies(
  [
    'delivery.post',
    'delivery.id',
    'delivery.type',
    'delivery.timestamp',
    'delivery.tenant',
    'delivery.data',
    'webhook.pushed',
  ],
  'a delivery is a POST of the event with its id, type, time, tenant and the entity after it',
  async () => {
    await register({ events: ['Contact.created'] })

    const ada = await contact('Ada')
    const [delivery] = await receiver.got(1)

    expect(delivery!.headers['content-type']).toBe('application/json')
    expect(delivery!.body).toMatchObject({
      id: expect.stringMatching(/^event_\w{16,}$/),
      type: 'Contact.created',
      tenant: `hooks${tenant}`,
      data: { $id: ada.$id, $type: 'Contact', name: 'Ada' },
    })
    expect(delivery!.body.timestamp).toBe(ada.$createdAt)
    expect(delivery!.body).not.toHaveProperty('previous')
  },
)

test('a delivery continues with the trace of the request that caused it, each try in its own span', async () => {
  await register({ events: ['Contact.*'] })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`
  receiver.answer(({ body }, response) => {
    const tries = receiver.requests.filter((one) => one.body.id === body.id).length
    response.writeHead(tries === 1 ? 500 : 204).end()
  })

  const operations = [{ method: 'POST', path: '/Contact', body: { name: 'Grace' } }]
  await host.request('POST', at('/Contact'), { name: 'Ada' }, { traceparent })
  await host.request('POST', at('/batch'), { operations }, { traceparent: traceparent.replace(/01$/, '00') })
  await host.request('POST', at('/import/Contact'), [{ name: 'Edith' }], { traceparent })
  await contact('Mary')
  const told = await receiver.got(8)

  const of = (name: string) =>
    told.filter(({ body }) => body.data.name === name).map(({ headers }) => headers.traceparent)
  const spans = ['Ada', 'Grace', 'Edith'].flatMap(of).map((header) => String(header).split('-')[2])
  const flags = (name: string) => of(name).map((header) => String(header).replace(/-[0-9a-f]{16}-/, ' '))
  expect(flags('Ada')).toEqual([`00-${trace} 01`, `00-${trace} 01`])
  expect(flags('Grace')).toEqual([`00-${trace} 00`, `00-${trace} 00`])
  expect(flags('Edith')).toEqual([`00-${trace} 01`, `00-${trace} 01`])
  expect(new Set([...spans, '00f067aa0ba902b7']).size).toBe(7)
  expect(of('Mary')).toEqual([undefined, undefined])
})

verifies('delivery.previous', 'previous holds the changed fields of updates and verbs, and only of those', async () => {
  await register()

  const ada = await contact('Ada')
  await host.request('PUT', at(`/Contact/${ada.$id}`), { name: 'Ada Lovelace' })
  await host.request('POST', at(`/Contact/${ada.$id}/qualify`))
  await host.request('DELETE', at(`/Contact/${ada.$id}`))
  const [created, updated, qualified, deleted] = await receiver.got(4)

  expect(created!.body).not.toHaveProperty('previous')
  expect(updated!.body.previous).toEqual({ name: 'Ada' })
  expect(qualified!.body).toMatchObject({ type: 'Contact.qualified', previous: { stage: 'Lead' } })
  expect(deleted!.body.type).toBe('Contact.deleted')
  expect(deleted!.body).not.toHaveProperty('previous')
})

verifies(
  ['delivery.signature', 'webhook.authenticated', 'signature.text'],
  'X-Service-Signature is the HMAC-SHA256 of the raw body under the secret as text',
  async () => {
    const { secret } = await register()

    await contact('Ädä “☃”')
    const [delivery] = await receiver.got(1)

    const expected = createHmac('sha256', secret).update(delivery!.text).digest('hex')
    expect(delivery!.headers['x-service-signature']).toBe(`sha256=${expected}`)
  },
)

describe('retries', () => {
  verifies(
    [
      'webhook.retry.failure',
      'webhook.retry.delays',
      'webhook.retry.exhausted',
      'webhook.failing',
      'limit.webhook.retries',
      'webhook.env.retries',
      'webhook.error',
    ],
    'a delivery that fails is tried again after each wait of the table; after the fifth retry the webhook is failing',
    async () => {
      receiver.answer(500)
      const { $id } = await register({ events: ['Contact.created'] })

      await contact('Ada')
      const tries = await receiver.got(6)
      await until(async () => (await host.request('GET', at(`/webhooks/${$id}`))).body.status === 'failing')
      await new Promise((done) => setTimeout(done, 200))

      expect(receiver.requests).toHaveLength(6)
      expect(new Set(tries.map(({ body }) => body.id)).size).toBe(1)
      const waits = tries.slice(1).map((one, i) => one.at - tries[i]!.at)
      for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual([40, 50, 60, 70, 80][i]! - 2)
    },
  )

  verifies(
    [
      'webhook.failing.subscribed',
      'webhook.retry.new',
      'webhook.recovers',
      'webhook.recovers.backlog',
      'webhook.failing.drains',
    ],
    'a failing webhook gets new events; the first success makes it active and sends what was given up',
    async () => {
      receiver.answer(503)
      const { $id } = await register({ events: ['Contact.created'] })
      for (const name of ['Ada', 'Grace', 'Edsger']) await contact(name)
      await until(
        async () => (await host.request('GET', at(`/webhooks/${$id}/deliveries?state=failed`))).body.total === 3,
      )
      expect((await host.request('GET', at(`/webhooks/${$id}`))).body.status).toBe('failing')
      receiver.requests.length = 0
      receiver.answer(200)

      await contact('Barbara')
      const got = await receiver.got(4)
      await until(async () => (await host.request('GET', at(`/webhooks/${$id}`))).body.status === 'active')

      expect(got.map(({ body }) => body.data.name)).toEqual(['Barbara', 'Ada', 'Grace', 'Edsger'])
      const { body } = await host.request('GET', at(`/webhooks/${$id}/deliveries?state=delivered`))
      expect(body.total).toBe(4)
    },
  )
})

test('events about a webhook itself do not loop', async () => {
  receiver.answer(500)
  await register({ events: ['*'] })

  await contact('Ada')
  await receiver.got(12)
  await new Promise((done) => setTimeout(done, 1_000))

  expect(receiver.requests).toHaveLength(12)
})
