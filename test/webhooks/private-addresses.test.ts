import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { speak } from '../agents/wire.ts'
import { until } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
let listener: Server
let port: number
const connections: string[] = []

beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOK_RETRIES: '10ms' })
  listener = createServer((socket) => {
    connections.push(String(socket.remotePort))
    socket.destroy()
  })
  await new Promise<void>((done) => listener.listen(0, '::', done))
  port = (listener.address() as { port: number }).port
})
afterAll(async () => {
  await app.stop()
  listener.close()
})

/** This machine, in the spellings that parsers and resolvers of names know. */
const HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[::]',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'public.example@127.0.0.1',
  '127.0.0.1%2f@localhost',
  '①②⑦.⓪.⓪.①',
]

/** The doors through which a tenant makes the service connect to an address. */
const DOORS: { readonly [name: string]: (tenant: string, authority: string) => Promise<unknown> } = {
  webhook: async (tenant, authority) => {
    const { body, status } = await app.request('POST', `/~${tenant}/webhooks`, {
      url: `https://${authority}/`,
      events: ['Deal.created'],
    })
    if (status !== 201) return
    await app.request('POST', `/~${tenant}/Deal`, { name: 'Go' })
    await until(async () => (await app.request('GET', `/~${tenant}/webhooks/${body.$id}`)).body.status === 'failing')
  },
  request: async (tenant, authority) => {
    // An address that is known only when the request is sent.
    const steps = [{ request: { method: 'GET', url: '$event.data.name' } }]
    const { body } = await app.request('POST', `/~${tenant}/Workflow`, {
      name: 'Ask',
      triggerEvent: 'Contact.created',
      filter: { name: `https://${authority}/` },
      steps,
    })
    await app.request('POST', `/~${tenant}/Workflow/${body.$id}/activate`)
    await app.request('POST', `/~${tenant}/Contact`, { name: `https://${authority}/` })
    await until(async () => {
      const { results } = (await app.request('GET', `/~${tenant}/Workflow/${body.$id}/runs`)).body
      return results[0]?.endedAt
    })
  },
  agent: async (tenant, authority) => {
    const { body } = await app.request('POST', `/~${tenant}/Agent`, {
      name: 'Helper',
      protocol: 'HTTP',
      endpoint: `https://${authority}/`,
    })
    if (!body.$id) return
    await app.request('POST', `/~${tenant}/Agent/${body.$id}/ask`, { message: 'Go' })
    await until(async () => (await app.request('GET', `/~${tenant}/Agent/${body.$id}/runs`)).body.results[0]?.endedAt)
  },
  subscription: async (tenant, authority) => {
    const delivery = { mode: 'webhook', url: `https://${authority}/`, secret: `whsec_${btoa('a'.repeat(32))}` }
    const send = app.as(await app.key(tenant, 'admin:all'))
    const { error } = await speak(send, tenant, 'events/subscribe', { name: 'Deal.created', arguments: {}, delivery })
    expect(error).toBeDefined()
  },
  ...Object.fromEntries(
    [
      ['hubspot', 'https'],
      ['github', 'https'],
      ['smtp', 'smtp'],
      ['smtp', 'smtps'],
      ['imap', 'imap'],
      ['imap', 'imaps'],
    ].map(([provider, scheme]) => [
      `${provider} by ${scheme}`,
      async (tenant: string, authority: string) => {
        const apiBaseUrl = `${scheme}://${authority}`
        const { body } = await app.request('POST', `/~${tenant}/Integration`, { name: 'Other', provider, apiBaseUrl })
        if (!body.$id) return
        const credentials = { token: 'x', user: 'x', password: 'x' }
        const { status } = await app.request('POST', `/~${tenant}/Integration/${body.$id}/connect`, { credentials })
        expect(status).toBe(422)
      },
    ]),
  ),
}

test.each(Object.keys(DOORS))(
  'no tenant reaches this machine, whatever the spelling of its address: %s',
  async (door) => {
    const tenant = `private-${door.replaceAll(' ', '-')}`
    await Promise.all(HOSTS.map((host) => DOORS[door]!(tenant, `${host}:${port}`)))

    expect(connections).toEqual([])
  },
)
