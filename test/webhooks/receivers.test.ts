import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { Receiver, until } from '../receiver.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let receiver: Receiver
let number = 0
const at = (path: string) => `/~kinds${number}${path}`

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1', TILDE_WEBHOOK_RETRIES: '30ms,200ms,1h' })
})
beforeEach(async () => {
  number++
  receiver = await Receiver.start()
})
afterEach(() => receiver.stop())
afterAll(() => host.stop())

const register = async (more: object = {}) =>
  (await host.request('POST', at('/webhooks'), { url: receiver.url, events: ['Contact.created'], ...more })).body
const contact = async (name: string, more: object = {}) =>
  (await host.request('POST', at('/Contact'), { name, ...more })).body
const deliveries = async (id: string, query = '') =>
  (await host.request('GET', at(`/webhooks/${id}/deliveries${query}`))).body

describe('a receiver that', () => {
  verifies(
    ['webhook.retry.timeout', 'limit.webhook.timeout', 'webhook.env.timeout'],
    'hangs fails after the timeout, and is tried again',
    async () => {
      const hasty = await testHost({
        TILDE_WEBHOOKS_INSECURE: '1',
        TILDE_WEBHOOK_RETRIES: '30ms,1h',
        TILDE_WEBHOOK_TIMEOUT: '250ms',
      })
      receiver.answer(() => {})
      const { body } = await hasty.request('POST', '/~acme/webhooks', {
        url: receiver.url,
        events: ['Contact.created'],
      })

      await hasty.request('POST', '/~acme/Contact', { name: 'Ada' })
      await receiver.got(2)

      const { results } = (await hasty.request('GET', `/~acme/webhooks/${body.$id}/deliveries`)).body
      await hasty.stop()
      expect(results[0].attempts[0]).toMatchObject({ status: null, error: expect.stringContaining('250 ms') })
      expect(results[0].attempts[0].latency).toBeGreaterThanOrEqual(240)
    },
  )

  test('hangs does not hold up another webhook, nor requests', async () => {
    receiver.answer(({ path }, response) => {
      if (path === '/well') response.writeHead(200).end()
    })
    for (let i = 0; i < 20; i++) await register()
    await register({ url: `http://127.0.0.1:${receiver.port}/well` })

    for (let i = 0; i < 10; i++) await contact(`c${i}`)
    const well = await receiver.got(10, '/well')

    expect(well.map(({ body }) => body.data.name)).toEqual(Array.from({ length: 10 }, (_, i) => `c${i}`))
  })

  test('resets the connection fails and is tried again', async () => {
    receiver.answer((_, response) => response.destroy())
    const { $id } = await register()

    await contact('Ada')
    await receiver.got(2)

    const { results } = await deliveries($id)
    expect(results[0]).toMatchObject({ state: 'pending', status: null })
    expect(results[0].error).not.toBe('')
  })

  verifies('webhook.redirect', 'redirects is not followed: the delivery failed', async () => {
    receiver.answer(({ path }, response) => {
      response.writeHead(path === '/hook' ? 307 : 200, { location: '/elsewhere' }).end()
    })
    const { $id } = await register()

    await contact('Ada')
    await receiver.got(2)

    expect(receiver.requests.every(({ path }) => path === '/hook')).toBe(true)
    expect((await deliveries($id)).results[0]).toMatchObject({ state: 'pending', status: 307 })
  })

  test('answers ten megabytes is read a little and has had its delivery', async () => {
    let written = 0
    receiver.answer((_, response) => {
      response.writeHead(200)
      const more = () => {
        for (let room = true; room && written < 10_485_760; written += 65_536)
          room = response.write(Buffer.alloc(65_536))
        if (written < 10_485_760) response.once('drain', more)
        else response.end()
      }
      more()
    })
    const { $id } = await register()

    await contact('Ada')
    await until(async () => (await deliveries($id, '?state=delivered')).total === 1)
    await new Promise((done) => setTimeout(done, 100))

    expect(written).toBeLessThan(10_485_760)
  })
})

verifies(
  ['outbox.order', 'outbox.retry'],
  'events come in order, and one that has to be retried holds up none after it',
  async () => {
    let failed = 0
    receiver.answer(({ body }, response) => {
      const fails = body.data.name === 'c3' && failed++ === 0
      setTimeout(() => response.writeHead(fails ? 500 : 200).end(), Math.random() * 5)
    })
    await register()

    await Promise.all(Array.from({ length: 10 }, (_, i) => contact(`c${i}`)))
    const got = await receiver.got(11)

    const seqs = got.map(({ body }) => body.seq)
    const again = got.map(({ body }) => body.data.name).lastIndexOf('c3')
    expect(seqs.filter((_, i) => i !== again)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2))
  },
)

verifies('outbox.retry', 'a retry that hangs holds up no event that comes meanwhile', async () => {
  let release = () => {}
  let tries = 0
  receiver.answer(({ body }, response) => {
    if (body.data.name === 'second') release()
    if (body.data.name === 'second' || tries++ === 0) return void response.writeHead(tries === 1 ? 500 : 200).end()
    release = () => response.writeHead(200).end()
  })
  const { $id } = await register()
  await contact('first')
  await receiver.got(2)

  await contact('second')
  await until(async () => (await deliveries($id, '?state=delivered')).total === 2)

  const { results } = await deliveries($id)
  expect(results.map(({ attempts }: { attempts: unknown[] }) => attempts.length)).toEqual([1, 2])
})

verifies('webhook.deliveries', 'deliveries are listed with their attempts, newest first and paged', async () => {
  receiver.answer(({ body }, response) => void response.writeHead(body.data.name === 'bad' ? 500 : 200).end())
  const { $id } = await register()
  for (const name of ['a', 'b', 'bad']) await contact(name)
  await receiver.got(5)
  await until(async () => (await deliveries($id)).results[0].attempts.length === 3)

  const first = await deliveries($id, '?limit=2')
  const second = await deliveries($id, `?limit=2&cursor=${first.cursor}`)

  expect(first).toMatchObject({ total: 3, hasMore: true })
  expect(first.results[0]).toMatchObject({
    id: expect.stringMatching(/^delivery_\d+$/),
    type: 'Contact.created',
    state: 'pending',
    status: 500,
    latency: expect.any(Number),
    error: expect.stringContaining('500'),
    nextAttemptAt: expect.stringMatching(/Z$/),
  })
  expect(first.results[1]).toMatchObject({ state: 'delivered', status: 200, error: null, nextAttemptAt: null })
  expect(second).toMatchObject({ hasMore: false, cursor: null, results: [{ state: 'delivered' }] })
  expect((await deliveries($id, '?state=pending')).total).toBe(1)
  expect((await host.request('GET', at(`/webhooks/${$id}/deliveries?state=odd`))).status).toBe(400)
})

verifies(
  ['webhook.redeliver', 'webhook.redeliver.all', 'delivery.id'],
  'one delivery, or all that failed, are sent again with the same id',
  async () => {
    receiver.answer(500)
    const { $id } = await register()
    await contact('Ada')
    await contact('Grace')
    await until(async () => (await deliveries($id)).results.every((one: any) => one.attempts.length === 3))
    receiver.answer(200)

    const all = await host.request('POST', at(`/webhooks/${$id}/redeliver`))
    await until(async () => (await deliveries($id, '?state=delivered')).total === 2)
    const { results } = await deliveries($id)
    receiver.requests.length = 0
    const one = await host.request('POST', at(`/Webhook/${$id}/redeliver`), { deliveryId: results[1].id })
    const [again] = await receiver.got(1)

    expect(all.body).toEqual({ queued: 2 })
    expect(one.body).toEqual({ queued: 1 })
    expect(again!.headers['webhook-id']).toBe(results[1].event)
    const none = await host.request('POST', at(`/webhooks/${$id}/redeliver`), { deliveryId: 'delivery_999' })
    expect(none.status).toBe(404)
  },
)

test('a test event is sent immediately, and its answer is returned', async () => {
  const { $id } = await register({ events: ['Deal.won'] })

  const { body } = await host.request('POST', at(`/webhooks/${$id}/test`))
  const [got] = await receiver.got(1)

  expect(body).toMatchObject({ state: 'test', type: 'Webhook.tested', status: 204, error: null })
  expect(got!.body).toMatchObject({ type: 'Webhook.tested', data: { $id } })
  expect((await host.request('GET', at('/events?type=Webhook'))).body.total).toBe(1)
})

test('a filter over the event decides what is sent', async () => {
  await register({ events: ['Deal.*'], filter: { 'data.value': { $gte: 100 }, changed: 'value' } })
  const { body: deal } = await host.request('POST', at('/Deal'), { name: 'Engine', value: 500 })

  for (const change of [{ value: 50 }, { name: 'Difference Engine' }, { value: 700 }, { name: 'x' }, { value: 800 }]) {
    await host.request('PUT', at(`/Deal/${deal.$id}`), change)
  }
  const got = await receiver.got(2)

  expect(got.map(({ body }) => body.data.value)).toEqual([700, 800])
})

test('from sends the past first, in order and once, then what comes', async () => {
  for (let i = 0; i < 5; i++) await contact(`c${i}`)
  const { body } = await host.request('GET', at('/events?limit=2'))
  await register({ from: 1 })
  await register({ from: 3, url: `http://127.0.0.1:${receiver.port}/third` })
  await register({ from: body.results[0].timestamp, url: `http://127.0.0.1:${receiver.port}/time` })
  await Promise.all([contact('c5'), contact('c6')])

  const all = await receiver.got(7, '/hook')
  const third = await receiver.got(5, '/third')
  await receiver.got(7, '/time')

  expect(all.map(({ body }) => body.seq)).toEqual([1, 2, 3, 4, 5, 9, 10])
  expect(third.map(({ body }) => body.seq)).toEqual([3, 4, 5, 9, 10])
})

test('a long past is sent in parts, and new events after it', async () => {
  const track = (from: number, count: number) =>
    host.request(
      'POST',
      at('/events'),
      Array.from({ length: count }, (_, i) => ({ name: `e${from + i}`, type: 'track' })),
    )
  await track(0, 800)
  await register({ events: ['Event.created'], from: 0 })
  await receiver.got(1)
  await track(800, 100)

  const got = await receiver.got(900)

  expect(got.map(({ body }) => body.data.name)).toEqual(Array.from({ length: 900 }, (_, i) => `e${i}`))
})

test('a webhook receives only what its author may read', async () => {
  const key = await host.key(`kinds${number}`, 'admin:platform,read:Contact', {
    filter: { Contact: { stage: 'Customer' } },
  })
  await host.as(key)('POST', at('/webhooks'), { url: receiver.url, events: ['*'] })

  await host.request('POST', at('/Deal'), { name: 'Engine' })
  await contact('Ada')
  await contact('Grace', { stage: 'Customer' })
  await receiver.got(1)
  await new Promise((done) => setTimeout(done, 100))

  expect(receiver.requests.map(({ body }) => body.data.name)).toEqual(['Grace'])
})

test('a deleted webhook gets nothing more, also when it is restored: only what comes then', async () => {
  receiver.answer(500)
  const { $id } = await register()
  await contact('Ada')
  await receiver.got(3)
  await host.request('DELETE', at(`/webhooks/${$id}`))
  await contact('Grace')
  receiver.answer(200)
  receiver.requests.length = 0

  await host.request('POST', at(`/webhooks/${$id}/restore`))
  await host.request('POST', at(`/webhooks/${$id}/redeliver`))
  await contact('Edsger')
  await until(async () => (await deliveries($id, '?state=delivered')).total === 1)

  expect(receiver.requests.map(({ body }) => body.data.name)).toEqual(['Edsger'])
})
