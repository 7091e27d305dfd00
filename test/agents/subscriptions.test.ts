import { randomBytes } from 'node:crypto'
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { OPERATOR } from '@tildebase/tenant'
import type { Outbound } from '@tildebase/tenant/ports'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '../../packages/server/src/node/outbound/outbound.ts'
import { subscribe as subscribeTo } from '../../packages/tenant/src/services/event-subscriptions/subscribe.ts'
import { openAutomation } from '../automation/bench.ts'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'
import { type Received, Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'
import { speak } from './wire.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`

let app: TestApp
let receiver: Receiver
let send: ReturnType<TestApp['as']>
let places = 0
let url = ''

beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  await app.request('POST', '/~acme/Contact', { name: 'First' })
  send = app.as(await app.key('acme', 'read:crm'))
})
afterAll(async () => {
  await receiver.stop()
  await app.stop()
})
beforeEach(async () => {
  receiver ??= await Receiver.start()
  receiver.answer(echo)
  url = `${receiver.url}/${++places}`
})

/** Returns the challenge, as a receiver that asks for the events. */
const echo: Parameters<Receiver['answer']>[0] = ({ body }, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ challenge: body.challenge }))
}

const at = () => receiver.requests.filter(({ path }) => url.endsWith(path))
const events = () => at().filter(({ body }) => body.eventId !== undefined)
const request = (more: object = {}) => ({
  name: 'Contact.created',
  arguments: {},
  delivery: { mode: 'webhook', url, secret: SECRET },
  ...more,
})
const subscribe = (more: object = {}, from = send) => speak(from, 'acme', 'events/subscribe', request(more) as never)
const create = (name: string, more: object = {}) => app.request('POST', '/~acme/Contact', { name, ...more })
const verified = ({ text, headers }: Received) => new Webhook(SECRET).verify(text, headers as Record<string, string>)
const arrived = (count: number) => expect.poll(() => events().length, { timeout: 10_000 }).toBe(count)

verifies('mcp.events.list', 'events/list offers the events of the types that the key may read', async () => {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { result } = await speak(send, 'acme', 'events/list', cursor === undefined ? {} : { cursor })
    names.push(...result.events.map(({ name }: { name: string }) => name))
    cursor = result.nextCursor
  } while (cursor !== undefined)

  expect(names).toEqual(expect.arrayContaining(['Contact.created', 'Contact.qualified', 'Deal.won']))
  expect(names.filter((name) => /^(?:Invoice|ApiKey)\./.test(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

verifies(
  ['mcp.events.subscribe', 'mcp.events.challenge', 'mcp.events.delivery'],
  'an address that returns the challenge receives signed events in order',
  async () => {
    const { result } = await subscribe()
    for (const name of ['Ada', 'Bob', 'Cleo']) await create(name)
    await arrived(3)

    const [challenge, ...rest] = at()
    expect(result).toMatchObject({
      id: expect.stringMatching(/^sub_/),
      refreshBefore: expect.any(String),
      cursor: expect.any(String),
      truncated: false,
    })
    expect(challenge!.body).toEqual({ type: 'verification', challenge: expect.any(String) })
    expect(challenge!.headers['webhook-id']).toMatch(/^msg_verification_/)
    expect(rest.map(({ body }) => body.data.name)).toEqual(['Ada', 'Bob', 'Cleo'])
    for (const one of [challenge!, ...rest]) {
      expect(verified(one)).toBeDefined()
      expect(one.headers['x-mcp-subscription-id']).toBe(result.id)
    }
    for (const { body, headers } of rest) {
      expect(Object.keys(body)).toEqual(['eventId', 'name', 'timestamp', 'data', 'cursor'])
      expect(headers['webhook-id']).toBe(body.eventId)
    }
  },
)

describe('an address', () => {
  verifies('mcp.events.errors', 'that does not return the challenge gets nothing', async () => {
    receiver.answer(204)
    const silent = await subscribe()
    receiver.answer(500)
    const broken = await subscribe()
    receiver.answer(302)
    const moved = await subscribe()
    await create('Unheard')

    expect(silent.error).toMatchObject({ code: -32015, data: { reason: 'challenge_failed' } })
    expect(broken.error).toMatchObject({ code: -32015, data: { reason: 'http_5xx' } })
    expect(moved.error).toMatchObject({ code: -32015, data: { reason: 'challenge_failed' } })
    expect(events()).toEqual([])
  })

  test('is challenged once for a caller, and again for another one', async () => {
    const other = app.as(await app.key('acme', 'read:crm'))
    await subscribe()
    await subscribe({ name: 'Contact.updated' })
    await subscribe()
    expect(at()).toHaveLength(1)

    await subscribe({}, other)

    expect(at()).toHaveLength(2)
  })

  test('that is private is refused before anything is sent, also after its challenge', async () => {
    const strict = await testApp()
    const privately = strict.as(await strict.key('acme', 'read:crm'))
    try {
      for (const bad of [
        url,
        'http://example.com/x',
        'https://127.0.0.1/x',
        'https://[::1]/x',
        'ftp://a.b/c',
        'no url',
      ]) {
        const { error } = await speak(privately, 'acme', 'events/subscribe', {
          name: 'Contact.created',
          delivery: { mode: 'webhook', url: bad, secret: SECRET },
        })
        expect(error.code, bad).toBe(-32602)
        expect(error.message).toMatch(/^delivery\.url\b.*[^.]\.$/)
      }
      // A name that leads to a private address: it is looked up for every attempt, and the connection is refused.
      const { error } = await speak(privately, 'acme', 'events/subscribe', {
        name: 'Contact.created',
        delivery: { mode: 'webhook', url: `https://localhost:${receiver.port}/x`, secret: SECRET },
      })
      expect([-32602, -32015]).toContain(error.code)
    } finally {
      await strict.stop()
    }
    expect(at()).toEqual([])
  })
})

verifies('mcp.events.private', 'an address that turns private after its challenge gets no connection', async () => {
  const w = openAutomation()
  let connections = 0
  const trap = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done))
  const { port } = trap.address() as AddressInfo
  const guarded = createOutbound({ insecure: false })
  // The name leads to a public address while it is challenged, and to this machine afterwards.
  let isPublic = true
  const outbound: Outbound = {
    ...guarded,
    send: async (sent) =>
      isPublic ? { status: 200, text: JSON.parse(sent.body).challenge, headers: {} } : guarded.send(sent),
  }
  w.tenant.equip({ outbound })
  const { lookup } = dns
  dns.lookup = ((_: string, options: object, done: () => void) => lookup('127.0.0.1', options, done)) as typeof lookup
  syncBuiltinESMExports()
  try {
    const delivery = { mode: 'webhook', url: `https://agent.example:${port}/`, secret: SECRET }
    await subscribeTo(w.tenant.engine, OPERATOR, { name: 'Contact.created', arguments: {}, delivery })
    isPublic = false
    w.run('Contact', 'create', undefined, { name: 'Ada' })
    await w.settle()
  } finally {
    dns.lookup = lookup
    syncBuiltinESMExports()
    trap.close()
  }
  const [[attempts]] = w.tenant.sql.rows('SELECT attempts FROM outbox') as [[string]]

  expect(JSON.parse(attempts)).toMatchObject([{ error: expect.stringContaining('not public') }])
  expect(connections).toBe(0)
})

test.each([
  ['an unknown event', { name: 'Contact.flown' }, -32011],
  ['a type that the key may not read', { name: 'Invoice.created' }, -32012],
  ['another mode', { delivery: { mode: 'push' } }, -32014],
  ['no secret', { delivery: { mode: 'webhook', url: 'https://example.com/' } }, -32602],
  ['a short secret', { delivery: { mode: 'webhook', url: 'https://example.com/', secret: 'whsec_YWJj' } }, -32602],
  ['a wrong filter', { arguments: { filter: { $near: 1 } } }, -32602],
  ['an unknown argument', { arguments: { fields: [] } }, -32602],
  ['a wrong lifetime', { ttlMs: -1 }, -32602],
])('%s is refused with a code of its own', async (_, more, code) => {
  expect((await subscribe(more)).error.code).toBe(code)
})

test('a filter narrows the events', async () => {
  await subscribe({ arguments: { filter: { stage: 'Qualified' } }, name: 'Contact.created' })

  await create('Lead')
  await create('Qualified one', { stage: 'Qualified' })
  await arrived(1)

  expect(events()[0]!.body.data.name).toBe('Qualified one')
})

test('a cursor brings the events since then, and one that cannot be read says so', async () => {
  const { result: before } = await subscribe()
  await speak(send, 'acme', 'events/unsubscribe', request() as never)
  await create('Missed')

  const { result } = await subscribe({ cursor: before.cursor })
  await arrived(1)
  await speak(send, 'acme', 'events/unsubscribe', request() as never)
  const { result: lost } = await subscribe({ cursor: 'nonsense' })

  expect(events()[0]!.body.data.name).toBe('Missed')
  expect([result.truncated, lost.truncated]).toEqual([false, true])
})

verifies('mcp.events.unsubscribe', 'nothing is sent after unsubscribing', async () => {
  await subscribe()
  const { result } = await speak(send, 'acme', 'events/unsubscribe', request() as never)
  const again = await speak(send, 'acme', 'events/unsubscribe', request() as never)
  await create('After')
  await new Promise((done) => setTimeout(done, 100))

  expect(result).toMatchObject({ resultType: 'complete' })
  expect(again.error).toMatchObject({ code: -32011, data: { kind: 'subscription' } })
  expect(events()).toEqual([])
})

test('a subscription that is renewed signs with both secrets for a while', async () => {
  const next = `whsec_${randomBytes(32).toString('base64')}`
  const { result: first } = await subscribe()
  const { result: renewed } = await subscribe({ delivery: { mode: 'webhook', url, secret: next }, ttlMs: null })
  await create('Twice signed')
  await arrived(1)

  const [{ text, headers }] = events() as [Received]
  expect(renewed.id).toBe(first.id)
  expect(renewed.refreshBefore > first.refreshBefore).toBe(true)
  for (const secret of [SECRET, next])
    expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toBeDefined()
})

describe('the rights of a subscription', () => {
  verifies('mcp.events.rights', 'are those of its key at delivery', async () => {
    const { body } = await app.request('POST', '/~acme/ApiKey', { name: 'Narrowed later', scopes: 'read:crm' })
    await subscribe({}, app.as(body.key ?? body.secret))
    await create('Seen')
    await arrived(1)

    await app.request('PATCH', `/~acme/ApiKey/${body.$id}`, { scopes: 'read:billing' })
    await create('Hidden')
    await new Promise((done) => setTimeout(done, 150))

    expect(events().map(({ body: { data } }) => data.name)).toEqual(['Seen'])
  })

  verifies('mcp.events.ends', 'end with the key, and the address hears of it', async () => {
    const { body } = await app.request('POST', '/~acme/ApiKey', { name: 'Revoked later', scopes: 'read:crm' })
    await subscribe({}, app.as(body.key ?? body.secret))

    await app.request('POST', `/~acme/ApiKey/${body.$id}/revoke`)
    await create('Too late')

    await expect.poll(() => at().length, { timeout: 10_000 }).toBe(2)
    const end = at()[1]!
    expect(end.body).toMatchObject({ type: 'terminated', error: { code: -32012 } })
    expect(end.headers['webhook-id']).toMatch(/^msg_terminated_/)
    expect(verified(end)).toBeDefined()
  })

  verifies('mcp.events.listed', 'end with the consent of a person, and are listed with the tokens', async () => {
    const admin = await person(app, 'acme', { email: 'admin@example.com', role: 'Admin' })
    const { access } = await connect(app, admin, 'acme', { asked: { scope: 'read:all' } })
    const { result } = await subscribe({}, app.as(access))
    const { body: listed } = await app.request('GET', '/~acme/account/tokens')
    const own = listed.subscriptions.find(({ id }: { id: string }) => id === result.id)

    await admin.send('DELETE', `/~acme/account/tokens/${own.token}`)

    await expect.poll(() => at().at(-1)!.body.type, { timeout: 10_000 }).toBe('terminated')
    expect(own).toMatchObject({ name: 'Contact.created', url })
    expect(JSON.stringify(listed)).not.toContain(SECRET)
  })
})
