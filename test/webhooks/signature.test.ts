import { createHmac } from 'node:crypto'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { type Received, Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
let receiver: Receiver
let number = 0
const at = (path: string) => `/~signed${number}${path}`

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
})
beforeEach(async () => {
  number++
  receiver = await Receiver.start()
})
afterEach(() => receiver.stop())
afterAll(() => host.stop())

const register = async (more: object = {}) =>
  (await host.request('POST', at('/webhooks'), { url: receiver.url, events: ['Contact.*'], ...more })).body
const contact = (name: string) => host.request('POST', at('/Contact'), { name })
const standardHeaders = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
})

verifies(
  ['delivery.standard', 'signature.bytes', 'webhook.secret.form'],
  'the libraries of the Standard Webhooks and of Svix accept a delivery, and refuse one that was touched',
  async () => {
    const { secret } = await register()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/)
    expect(Buffer.from(secret.slice(6), 'base64').length).toBeGreaterThanOrEqual(24)

    await contact('Ädä “☃”')
    const [delivery] = await receiver.got(1)
    const headers = standardHeaders(delivery!)

    expect(new Standard(secret).verify(delivery!.text, headers)).toEqual(delivery!.body)
    expect(() => new Svix(secret).verify(delivery!.text, headers)).not.toThrow()
    expect(headers['webhook-id']).toBe(delivery!.body.id)
    expect(() => new Standard(secret).verify(`${delivery!.text} `, headers)).toThrow()
    expect(() => new Svix(secret).verify(`${delivery!.text} `, headers)).toThrow()
  },
)

verifies('signature.bytes', 'a secret of another form signs with its UTF-8 bytes', async () => {
  const secret = 'correct hörse battery'
  await register({ secret })

  await contact('Ada')
  const [{ text, headers }] = (await receiver.got(1)) as [Received]

  const id = headers['webhook-id']
  const time = headers['webhook-timestamp']
  const signed = createHmac('sha256', Buffer.from(secret)).update(`${id}.${time}.${text}`).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${signed}`)
})

verifies(
  ['webhook.rotate', 'webhook.rotate.overlap', 'signature.overlap', 'signature.rotated', 'webhook.secret.once'],
  'after a rotation both secrets sign side by side, and X-Service-Signature the new one',
  async () => {
    const { $id, secret: old } = await register()

    const rotated = await host.request('POST', at(`/webhooks/${$id}/rotate`))
    await contact('Ada')
    const [delivery] = await receiver.got(1)

    const { secret } = rotated.body
    expect(rotated.status).toBe(200)
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(old)
    for (const one of [secret, old]) new Standard(one).verify(delivery!.text, standardHeaders(delivery!))
    expect(delivery!.headers['x-service-signature']).toBe(
      `sha256=${createHmac('sha256', secret).update(delivery!.text).digest('hex')}`,
    )
    expect((await host.request('GET', at(`/webhooks/${$id}`))).text).not.toContain('whsec_')
    expect((await host.request('GET', at('/webhooks'))).text).not.toContain('secret')
  },
)

test('a secret of null is generated, and one that only looks like base64 is refused', async () => {
  expect((await register({ secret: null })).secret).toMatch(/^whsec_/)
  expect((await register({ secret: 'whsec_not base64' })).error).toBe('validation_error')
  expect((await register({ secret: '' })).error).toBe('validation_error')
})

test('an update with a secret replaces it, without telling it', async () => {
  const { $id } = await register()

  const { body, text } = await host.request('PUT', at(`/Webhook/${$id}`), { secret: 'another secret of mine' })
  await contact('Ada')
  const [delivery] = await receiver.got(1)

  expect(body.$id).toBe($id)
  expect(text).not.toContain('another secret')
  expect(delivery!.headers['x-service-signature']).toBe(
    `sha256=${createHmac('sha256', 'another secret of mine').update(delivery!.text).digest('hex')}`,
  )
})
