import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
let number = 0
let tenant: string

beforeAll(async () => {
  host = await testApp()
})
beforeEach(() => {
  tenant = `stream${++number}`
})
afterAll(() => host.stop())

const get = (path: string) => host.request('GET', `/~${tenant}${path}`)
const post = (path: string, body?: unknown) => host.request('POST', `/~${tenant}${path}`, body)
const names = (reply: { body: { results: { type: string }[] } }) => reply.body.results.map(({ type }) => type)

async function threeContacts() {
  for (const name of ['Ada', 'Grace', 'Edsger']) await post('/Contact', { name })
}

describe('the change stream', () => {
  verifies(
    ['stream.tenant', 'stream.order', 'event.streamed', 'log.record', 'log.record.more', 'log.one'],
    'holds every event of the tenant, oldest first, in the list envelope',
    async () => {
      const { body: ada } = await post('/Contact', { name: 'Ada' })
      await post(`/Contact/${ada.$id}/qualify`)

      const { status, body } = await get('/events')

      expect(status).toBe(200)
      expect(body).toMatchObject({ total: 2, hasMore: false, cursor: '2' })
      expect(body.results[1]).toEqual({
        id: expect.stringMatching(/^event_/),
        type: 'Contact.qualified',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        tenant,
        data: expect.objectContaining({ $id: ada.$id, $type: 'Contact', stage: 'Qualified' }),
        previous: { stage: 'Lead' },
        seq: 2,
        verb: 'qualify',
        entityType: 'Contact',
        entityId: ada.$id,
        version: 2,
        actor: 'operator',
      })
    },
  )

  verifies(
    ['stream.cursor', 'stream.cursor.always', 'log.seq'],
    'walking by the cursor gives every event once, also those that come later',
    async () => {
      await threeContacts()
      const seen: number[] = []
      let cursor = ''
      for (let more = true; more; ) {
        const { body } = await get(`/events?limit=2&cursor=${cursor}`)
        seen.push(...body.results.map(({ seq }: { seq: number }) => seq))
        cursor = body.cursor
        more = body.hasMore
      }
      await threeContacts()

      const { body } = await get(`/events?cursor=${cursor}`)

      expect([...seen, ...body.results.map(({ seq }: { seq: number }) => seq)]).toEqual([1, 2, 3, 4, 5, 6])
      expect(body).toMatchObject({ hasMore: false, cursor: '6', total: 3 })
      expect((await get('/events?type=Deal')).body).toMatchObject({ results: [], total: 0, cursor: '6' })
    },
  )

  verifies('stream.since', 'since leaves only events after that time', async () => {
    await post('/Contact', { name: 'Ada' })
    const { body } = await get('/events')
    await nextMillisecond()
    await post('/Contact', { name: 'Grace' })

    const later = await get(`/events?since=${body.results[0].timestamp}`)

    expect(later.body.results.map(({ seq }: { seq: number }) => seq)).toEqual([2])
    expect((await get('/events?since=2000-01-01T00:00:00Z')).body.results).toHaveLength(2)
    expect((await get('/events?since=now')).body.results).toHaveLength(0)
  })

  verifies('stream.since.invalid', 'a bad since is 400 invalid_since', async () => {
    const { status, body } = await get('/events?since=yesterday')

    expect([status, body.error, body.field]).toEqual([400, 'invalid_since', 'since'])
  })

  verifies(
    ['stream.type', 'stream.type.patterns', 'stream.type.known', 'event.names.wildcard', 'event.case.subscription'],
    'type takes a type, an event, a wildcard for either, and several of them, without regard to case',
    async () => {
      const { body: ada } = await post('/Contact', { name: 'Ada' })
      await post(`/Contact/${ada.$id}/qualify`)
      const { body: deal } = await post('/Deal', { name: 'Engine' })
      await host.request('PUT', `/~${tenant}/Deal/${deal.$id}`, { value: 5 })

      for (const [type, expected] of [
        ['Contact', ['Contact.created', 'Contact.qualified']],
        ['Contact.*', ['Contact.created', 'Contact.qualified']],
        ['Contact.qualified', ['Contact.qualified']],
        ['contact.QUALIFIED', ['Contact.qualified']],
        ['*.created', ['Contact.created', 'Deal.created']],
        ['*', ['Contact.created', 'Contact.qualified', 'Deal.created', 'Deal.updated']],
        ['Deal.updated,Contact.created', ['Contact.created', 'Deal.updated']],
        ['Deal, Contact', ['Contact.created', 'Contact.qualified', 'Deal.created', 'Deal.updated']],
        ['Nothing.created', []],
      ] as const) {
        const reply = await get(`/events?type=${encodeURIComponent(type)}`)
        expect([type, names(reply), reply.body.total]).toEqual([type, expected, expected.length])
      }
      expect(names(await get('/events?type=Deal&type=Contact.created'))).toEqual([
        'Contact.created',
        'Deal.created',
        'Deal.updated',
      ])
    },
  )

  test('a type or an event that is neither known nor in the log is in a warning, and nothing else is', async () => {
    await host.request('PUT', `/~${tenant}/schema/Ship`, { name: 'string' })
    const { body: ship } = await post('/Ship', { name: 'Fram' })
    await host.request('DELETE', `/~${tenant}/Ship/${ship.$id}`)
    await host.request('DELETE', `/~${tenant}/schema/Ship`)
    const warnings = async (type: string) => {
      const reply = await get(`/events?type=${encodeURIComponent(type)}`)
      expect(reply.status).toBe(200)
      return JSON.parse(reply.headers.get('x-tilde-warnings') ?? '[]')
    }

    expect(await warnings('Contct.created,Deal')).toEqual([
      { field: 'type: Contct.created', nearest: 'Contact.created' },
    ])
    expect(await warnings('Contact.craeted')).toEqual([{ field: 'type: Contact.craeted', nearest: 'Contact.created' }])
    expect(await warnings('*.zzzzzzzz')).toEqual([{ field: 'type: *.zzzzzzzz', nearest: null }])
    for (const type of ['contact.CREATED', '*.created', 'Ship.deleted', '*.*', '*', 'Webhook.failing'])
      expect([type, await warnings(type)]).toEqual([type, []])
  })

  verifies(
    ['stream.limit', 'limit.stream', 'stream.limit.range'],
    'limit is 1 to 1000 and 100 when it is left out',
    async () => {
      const list = Array.from({ length: 120 }, (_, i) => ({ name: `e${i}`, type: 'track' }))
      await post('/events', list)

      expect((await get('/events')).body.results).toHaveLength(100)
      expect((await get('/events?limit=1000')).body.results).toHaveLength(120)
      for (const limit of ['0', '1001', 'x', '1.5']) {
        const { status, body } = await get(`/events?limit=${limit}`)
        expect([limit, status, body.error]).toEqual([limit, 400, 'invalid_limit'])
      }
    },
  )

  verifies('stream.db', 'the database path without a tenant answers for the tenant of the key', async () => {
    const key = await host.key(tenant, 'admin:all')
    await post('/Contact', { name: 'Ada' })

    const { status, body } = await host.as(key)('GET', '/events?type=Contact')

    expect([status, body.results[0].tenant]).toEqual([200, tenant])
  })

  test('a cursor that was never given out is 400 invalid_cursor', async () => {
    expect((await get('/events?cursor=abc')).body.error).toBe('invalid_cursor')
  })

  test('a cursor beyond the last event is 400: its reader would miss what comes next', async () => {
    await post('/Contact', { name: 'Ada' })
    const { cursor } = (await get('/events')).body

    const [last, beyond] = await Promise.all(
      [Number(cursor), Number(cursor) + 1].map((n) => get(`/events?cursor=${n}`)),
    )

    expect([last!.status, beyond!.status, beyond!.body.error]).toEqual([200, 400, 'invalid_cursor'])
    expect(beyond!.body).toMatchObject({ field: 'cursor', seq: Number(cursor) })
  })

  test('wait delays an empty page until there is a requested event', async () => {
    await post('/Deal', { name: 'Engine' })
    const waiting = get('/events?cursor=1&type=Contact&wait=30')
    await post('/Deal', { name: 'Another' })
    await post('/Contact', { name: 'Ada' })

    const { body } = await waiting

    expect(names({ body })).toEqual(['Contact.created'])
    expect((await get('/events?cursor=3&wait=1')).body).toMatchObject({ results: [], cursor: '3' })
    expect((await get('/events?wait=61')).body).toMatchObject({ error: 'invalid_parameter', field: 'wait' })
  })

  verifies('scope.leaveOut.stream', 'leaves out what the key may not read, in pages and in totals', async () => {
    const key = await host.key(tenant, 'read:Contact')
    await post('/Contact', { name: 'Ada' })
    await post('/Deal', { name: 'Engine' })

    const { body } = await host.as(key)('GET', `/~${tenant}/events`)

    expect(names({ body })).toEqual(['Contact.created'])
    expect(body).toMatchObject({ total: 1, cursor: '3' })
    expect((await host.as(key)('GET', `/~${tenant}/events?type=*.created`)).body.results).toHaveLength(1)
  })

  test('leaves out rows that the filter of the key does not show', async () => {
    const key = await host.key(tenant, 'read:all', { filter: { Contact: { stage: 'Customer' } } })
    await post('/Contact', { name: 'Ada' })
    await post('/Contact', { name: 'Grace', stage: 'Customer' })
    await post('/Deal', { name: 'Engine' })

    const { body } = await host.as(key)('GET', `/~${tenant}/events?type=Contact,Deal`)

    expect(body.results.map(({ data }: { data: { name: string } }) => data.name)).toEqual(['Grace', 'Engine'])
    expect(body).not.toHaveProperty('total')
  })

  verifies('secret.events', 'no secret of a key or a webhook is in the stream', async () => {
    const key = await host.key(tenant, 'admin:all')
    const hook = await post('/webhooks', { url: 'https://example.com/', events: ['*'] })
    await post(`/webhooks/${hook.body.$id}/rotate`)

    const { text, body } = await get('/events')

    expect(names({ body })).toEqual(['ApiKey.created', 'Webhook.created', 'Webhook.rotated'])
    expect(text).not.toContain(key)
    expect(text).not.toContain('whsec_')
    expect(text).not.toContain('"secret"')
  })
})

describe('the Event collection', () => {
  verifies(
    [
      'event.collection.parameters',
      'stream.type.other',
      'event.collection.holds',
      'event.collection.verb',
      'event.tracked.one',
      'event.tracked.once',
    ],
    'answers to parameters of Events and of lists; a tracked event is in it once, and is its own log record',
    async () => {
      await post('/Contact', { name: 'Ada' })
      const { body: tracked } = await post('/events', { name: 'signup', type: 'track', source: 'Browser' })

      for (const query of ['name=signup', 'type=track', 'source=Browser', 'filter={"name":"signup"}']) {
        const { body } = await get(`/events?${query}`)
        expect([query, body.results.map(({ $id }: { $id: string }) => $id)]).toEqual([query, [tracked.$id]])
      }
      const since = (date: string) => get(`/events?since=${date}&filter={"name":{"$in":["signup","Contact.created"]}}`)
      expect((await since('2026-01-01')).body.total).toBe(2)
      expect((await since('2100-01-01')).body.total).toBe(0)
      expect((await since('never')).body.error).toBe('invalid_since')
      const all = await get('/events?sort=createdAt')
      expect(all.body.results.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
        ['Contact.created', 'verb'],
        ['signup', 'track'],
      ])
      const stream = await get('/events')
      expect((await get('/events?type=')).body).toEqual(stream.body)
      expect(stream.body.results[1]).toMatchObject({ id: tracked.$id, type: 'Event.created', entityId: tracked.$id })
    },
  )

  verifies(
    ['event.collection.lens', 'event.list', 'address.db.events'],
    'is what /events answers on the analytics host',
    async () => {
      await post('/events', { name: 'signup', type: 'track', source: 'Browser' })

      const { body } = await host.request('GET', `/analytics/~${tenant}/events?name=signup&source=Browser`)

      expect(body.results[0]).toMatchObject({ $type: 'Event', name: 'signup' })
      expect((await host.request('GET', `/analytics/~${tenant}/events`)).body.results[0].$type).toBe('Event')
      expect((await get('/events')).body.results[0].type).toBe('Event.created')
    },
  )

  verifies(
    ['event.resource', 'event.get', 'event.post', 'event.id', 'event.timestamp', 'event.names.event'],
    'POST /events creates one and GET /events/:id reads it, on every host',
    async () => {
      const before = Date.now()
      const { status, body } = await post('/events', { name: 'signup', type: 'track' })

      expect(status).toBe(201)
      expect(body.$id).toMatch(/^event_\w{16,}$/)
      expect(Date.parse(body.timestamp)).toBeGreaterThanOrEqual(before)
      expect((await get(`/events/${body.$id}`)).body).toMatchObject({ $id: body.$id, name: 'signup' })
      expect((await get('/events/count')).body).toEqual({ count: 1 })
      expect((await get('/Event')).body.total).toBe(1)
    },
  )

  verifies(
    ['event.createOnly', 'error.event.modify', 'event.stateless'],
    'an Event is not changed and not deleted: 405 with Allow',
    async () => {
      const { body } = await post('/events', { name: 'signup', type: 'track' })

      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        for (const name of ['events', 'Event']) {
          const reply = await host.request(method, `/~${tenant}/${name}/${body.$id}`, {})
          expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'GET'])
        }
      }
    },
  )

  test('several Events are created in one POST, all or none', async () => {
    const many = await post('/events', [
      { name: 'a', type: 'track' },
      { name: 'b', type: 'page' },
    ])
    expect(many.status).toBe(201)
    expect(many.body.results.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])

    const wrong = await post('/events', [{ name: 'c', type: 'track' }, { type: 'track' }])
    expect(wrong.body).toMatchObject({ error: 'validation_error', index: 1 })
    expect((await get('/events/count')).body).toEqual({ count: 2 })

    const list = Array.from({ length: 1_001 }, () => ({ name: 'a', type: 'track' }))
    expect((await post('/events', list)).body).toMatchObject({ error: 'too_many', limit: 1_000 })
  })
})
