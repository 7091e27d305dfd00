import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Reply, type TestApp, testApp } from './host.ts'
import { verifies } from './verifies.ts'

let host: TestApp
let batch: (operations: unknown, more?: object) => ReturnType<TestApp['request']>

beforeAll(async () => {
  host = await testApp()
  batch = (operations, more = {}) => host.request('POST', '/~acme/batch', { operations, ...more })
})
afterAll(() => host.stop())

async function count(tenant: string): Promise<number> {
  return (await host.request('GET', `/~${tenant}/Contact/count`)).body.count
}

describe('a batch', () => {
  verifies(
    ['batch.path', 'batch.shape', 'batch.answer', 'batch.slash'],
    'runs several operations in order',
    async () => {
      const reply = await batch([
        { id: 'ada', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
        { id: 'none', method: 'GET', path: 'contacts/contact_nobody' },
        { id: 'bob', method: 'POST', path: 'contacts', body: { name: 'Bob' } },
      ])

      expect(reply.status).toBe(200)
      expect(reply.body.results.map(({ id, status }: Reply['body']) => [id, status])).toEqual([
        ['ada', 201],
        ['none', 404],
        ['bob', 201],
      ])
      expect(reply.body.results[0].body).toMatchObject({ $type: 'Contact', name: 'Ada', $version: 1 })
      expect(reply.body.results[1].body).toMatchObject({ error: 'not_found', requestId: expect.any(String) })
    },
  )

  verifies(['batch.query', 'batch.filter'], 'takes filter and sort as JSON, in query or in the path', async () => {
    const reply = await batch([
      { id: '1', method: 'POST', path: '/Deal', body: { name: 'small', value: 1 } },
      { id: '2', method: 'POST', path: '/Deal', body: { name: 'large', value: 9 } },
      {
        id: 'json',
        method: 'GET',
        path: '/Deal',
        query: { filter: { value: { $gte: 1 } }, sort: { value: -1 }, limit: 1 },
      },
      { id: 'text', method: 'GET', path: '/Deal?name=small&fields=name' },
    ])

    expect(reply.body.results[2].body).toMatchObject({ results: [{ name: 'large' }], total: 2 })
    expect(reply.body.results[3].body.results).toEqual([
      { $id: reply.body.results[0].body.$id, $type: 'Deal', name: 'small' },
    ])
  })

  verifies('batch.below', 'addresses paths below its own tenant only', async () => {
    const reply = await batch([{ id: 'a', method: 'GET', path: '/~other/Contact' }])

    expect(reply.body.results[0]).toMatchObject({ status: 400, body: { error: 'invalid_path' } })
  })

  verifies(['batch.ref.body', 'batch.ref.path'], 'refers to the results of earlier operations', async () => {
    const reply = await batch([
      { id: 'org', method: 'POST', path: '/Organization', body: { name: 'Initech' } },
      {
        id: 'peter',
        method: 'POST',
        path: '/Contact',
        body: {
          name: 'Peter',
          organization: { $ref: 'org', path: '$id' },
          notes: [{ at: { $ref: 'org', path: 'name' } }],
        },
      },
      { id: 'qualify', method: 'POST', path: '/Contact/${peter.$id}/qualify' },
      { id: 'list', method: 'GET', path: '/Contact', query: { filter: { organization: { $ref: 'org' } } } },
      { id: 'plain', method: 'GET', path: 'Contact?organization=${org.$id}' },
      { id: 'first', method: 'GET', path: '/Contact/${list.results.0.$id}' },
    ])

    const [org, peter, qualified, list, plain, first] = reply.body.results.map(({ body }: Reply['body']) => body)
    expect(peter).toMatchObject({ organization: org.$id, notes: [{ at: 'Initech' }] })
    expect(qualified).toMatchObject({ $id: peter.$id, stage: 'Qualified' })
    expect([list.total, plain.total, first.$id]).toEqual([1, 1, peter.$id])
  })

  verifies(
    'batch.ref.failed',
    'answers 424 for what depends on a failed operation, and for what depends on that',
    async () => {
      const reply = await batch([
        { id: 'bad', method: 'POST', path: '/Contact', body: {} },
        { id: 'next', method: 'POST', path: '/Deal', body: { name: 'x', contact: { $ref: 'bad', path: '$id' } } },
        { id: 'last', method: 'GET', path: '/Deal/${next.$id}' },
        { id: 'free', method: 'POST', path: '/Contact', body: { name: 'free' } },
      ])

      expect(reply.body.results.map(({ status }: Reply['body']) => status)).toEqual([422, 424, 424, 201])
      expect(reply.body.results[1].body.error).toBe('dependency_failed')
    },
  )

  verifies('batch.ref.invalid', 'answers 400 invalid_ref for an unknown or later operation', async () => {
    const reply = await batch([
      { id: 'a', method: 'POST', path: '/Deal', body: { name: { $ref: 'z', path: 'name' } } },
      { id: 'b', method: 'GET', path: '/Contact/${c.$id}' },
      { id: 'c', method: 'POST', path: '/Contact', body: { name: 'C' } },
      { id: 'd', method: 'POST', path: '/Contact', body: { name: { $ref: 'c', path: 'no.such' } } },
      { id: 'e', method: 'POST', path: '/Contact', body: { name: { $ref: 'e' } } },
    ])

    expect(reply.body.results.map(({ status }: Reply['body']) => status)).toEqual([400, 400, 201, 400, 400])
    for (const index of [0, 1, 3, 4]) expect(reply.body.results[index].body.error).toBe('invalid_ref')
  })

  verifies('batch.atomic', 'is written whole when it is atomic and all is well', async () => {
    const reply = await host.request('POST', '/~whole/batch', {
      atomic: true,
      operations: [1, 2, 3].map((n) => ({ id: `${n}`, method: 'POST', path: '/Contact', body: { name: `${n}` } })),
    })

    expect(reply.status).toBe(200)
    expect(await count('whole')).toBe(3)
  })

  verifies(['batch.atomic', 'batch.atomic.failed'], 'writes nothing when it is atomic and one fails', async () => {
    await host.request('POST', '/~nothing/Contact', { name: 'before' })
    const reply = await host.request('POST', '/~nothing/batch', {
      atomic: true,
      operations: [
        { id: 'good', method: 'POST', path: '/Contact', body: { name: 'good' } },
        { id: 'bad', method: 'POST', path: '/Contact', body: { name: 1 } },
      ],
    })

    expect(reply.status).toBe(422)
    expect(reply.body).toMatchObject({ error: 'batch_failed', requestId: expect.any(String) })
    expect(reply.body.results.map(({ id, status }: Reply['body']) => [id, status])).toEqual([
      ['good', 201],
      ['bad', 422],
    ])
    expect(await count('nothing')).toBe(1)
  })

  test('refers to a value in a path as it is, whatever letters it has', async () => {
    const { body } = await batch([
      { id: 'a', method: 'POST', path: '/Contact', body: { name: '50% é' } },
      { id: 'b', method: 'GET', path: '/Contact?name=${a.name}' },
      { id: 'c', method: 'GET', path: '/Contact/${a.name}' },
    ])

    expect(body.results[1].body.total).toBe(1)
    expect(body.results[2].body).toMatchObject({ error: 'not_found', id: '50% é' })
  })

  test('undoes an operation that fails half-way, and keeps the others', async () => {
    const events = [{ name: 'signup', type: 'track' }, { name: 1 }]
    const { body } = await host.request('POST', '/~halves/batch', {
      operations: [
        { id: 'half', method: 'POST', path: '/events', body: events },
        { id: 'whole', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
      ],
    })

    expect(body.results.map(({ status }: Reply['body']) => status)).toEqual([422, 201])
    expect((await host.request('GET', '/~halves/Event/count?name=signup')).body.count).toBe(0)
    expect(await count('halves')).toBe(1)
  })

  test.each([
    ['a question that cannot be', '/Contact?limit=0', 400],
    ['something that is not there', '/Contact/contact_nobody', 404],
  ])('writes nothing when it is atomic and holds %s', async (_, path, status) => {
    const reply = await host.request('POST', '/~none/batch', {
      atomic: true,
      operations: [
        { id: 'good', method: 'POST', path: '/Contact', body: { name: 'good' } },
        { id: 'bad', method: 'GET', path },
      ],
    })

    expect([reply.status, reply.body.results?.[1].status]).toEqual([422, status])
    expect(await count('none')).toBe(0)
  })

  test.each(['/export/Contact', '/events', '/manifest'])('does not hold what takes its time: %s', async (path) => {
    const { body } = await batch([{ id: 'a', method: 'GET', path }])

    expect(body.results[0]).toMatchObject({ status: 400, body: { error: 'invalid_operation' } })
  })

  verifies(['batch.cap', 'limit.batch'], 'holds at most a hundred operations', async () => {
    const many = Array.from({ length: 101 }, (_, n) => ({ id: `${n}`, method: 'GET', path: '/Contact/count' }))

    expect((await batch(many.slice(1))).status).toBe(200)
    expect(await batch(many)).toMatchObject({ status: 400, body: { error: 'too_many', limit: 100 } })
  })

  test('shares the correlation that it was sent with', async () => {
    const operations = [{ id: 'a', method: 'POST', path: '/Contact', body: { name: 'Ada' } }]
    const { body } = await host.request('POST', '/~acme/batch', { operations }, { 'x-correlation-id': 'mine' })

    expect(body.correlation).toBe('mine')
  })

  test('shares one correlation, which is in the answer and in its events', async () => {
    const reply = await host.request('POST', '/~linked/batch', {
      operations: ['a', 'b'].map((id) => ({ id, method: 'POST', path: '/Contact', body: { name: id } })),
    })
    const rehearsed = await host.request('POST', '/~linked/batch?dryRun=true', {
      operations: ['a', 'b'].map((id) => ({ id, method: 'POST', path: '/Contact', body: { name: id } })),
    })

    expect(reply.body.correlation).toMatch(/^batch_/)
    expect(new Set(rehearsed.body.events.map(({ correlation }: Reply['body']) => correlation)).size).toBe(1)
  })

  test('leaves no trace as a dry run, whole or one operation of it', async () => {
    const create = { id: 'a', method: 'POST', path: '/Contact', body: { name: 'A' } }
    const whole = await host.request('POST', '/~dry/batch?dryRun=true', { operations: [create] })
    const one = await host.request('POST', '/~dry/batch', { operations: [{ ...create, query: { dryRun: true } }] })

    expect(whole.body).toMatchObject({ dryRun: true, status: 200, events: [{ type: 'Contact.created' }] })
    expect(one.body.results[0].body).toMatchObject({ dryRun: true, status: 201 })
    expect(await count('dry')).toBe(0)
  })

  test('asks the scopes of every operation', async () => {
    const key = await host.key('acme', 'read:all,write:crm')
    const reply = await host.as(key)('POST', '/~acme/batch', {
      operations: [
        { id: 'crm', method: 'POST', path: '/Contact', body: { name: 'crm' } },
        { id: 'billing', method: 'POST', path: '/Plan', body: { name: 'Pro' } },
        { id: 'read', method: 'GET', path: '/Plan' },
        { id: 'keys', method: 'GET', path: '/api-keys' },
      ],
    })

    expect(reply.body.results.map(({ status }: Reply['body']) => status)).toEqual([201, 403, 200, 403])
  })

  test('takes the version that an operation expects', async () => {
    const { body: contact } = await host.request('POST', '/~acme/Contact', { name: 'v1' })
    const reply = await batch([
      { id: 'stale', method: 'PUT', path: `/Contact/${contact.$id}`, body: { name: 'x' }, ifMatch: '"9"' },
      { id: 'fresh', method: 'PUT', path: `/Contact/${contact.$id}`, body: { name: 'y' }, ifMatch: 1 },
    ])

    expect(reply.body.results.map(({ status }: Reply['body']) => status)).toEqual([412, 200])
  })

  test.each([
    ['no operations', {}],
    ['operations that are no list', { operations: {} }],
    ['an operation that is no object', { operations: [1] }],
    ['an operation without a path', { operations: [{ id: 'a', method: 'GET' }] }],
    ['an unknown method', { operations: [{ id: 'a', method: 'FETCH', path: '/Contact' }] }],
    ['two operations of one id', { operations: [1, 2].map(() => ({ id: 'a', method: 'GET', path: '/Contact' })) }],
  ])('is refused with %s', async (_, body) => {
    expect(await host.request('POST', '/~acme/batch', body)).toMatchObject({
      status: 400,
      body: { error: 'invalid_body' },
    })
  })

  test('does not hold another batch', async () => {
    const reply = await batch([{ id: 'a', method: 'POST', path: '/batch', body: { operations: [] } }])

    expect(reply.body.results[0]).toMatchObject({ status: 400, body: { error: 'invalid_operation' } })
  })

  test('replayed by its Idempotency-Key, leaves out the secrets it issued', async () => {
    const send = () =>
      host.request(
        'POST',
        '/~acme/batch',
        { operations: [{ id: 'key', method: 'POST', path: '/api-keys', body: { name: 'k' } }] },
        { 'idempotency-key': 'a batch of keys' },
      )
    const first = await send()
    const second = await send()

    expect(first.body.results[0].body.secret).toMatch(/^tb_/)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body.results[0].body).toMatchObject({ $id: first.body.results[0].body.$id })
    expect(second.body.results[0].body).not.toHaveProperty('secret')
  })
})
