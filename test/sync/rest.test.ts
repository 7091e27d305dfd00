import { afterAll, beforeAll, expect } from 'vitest'
import { openLocal } from '../../packages/client/src/sync/local.ts'
import { sync, syncOver } from '../../packages/client/src/sync/sync.ts'
import { wireTo } from '../../packages/client/src/transport/wire.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

verifies(['sync.both', 'sync.local', 'sync.lastWrite'], 'two local databases meet over HTTP and agree', async () => {
  const send = syncOver(wireTo({ baseUrl: host.url, apiKey: await host.key('meet', 'write:crm') }), 'meet')
  const [a, b] = [await openLocal({ replica: 'a' }), await openLocal({ replica: 'b' })]
  const id = a.create('Contact', { name: 'Ada' })
  await sync(a, send)
  await sync(b, send)
  b.update(id, { phone: '2' })
  a.update(id, { title: 'Countess' })

  for (const store of [b, a, b]) await sync(store, send)

  expect(a.get(id)).toEqual(b.get(id))
  expect(a.get(id)!.data).toMatchObject({ name: 'Ada', phone: '2', title: 'Countess' })
  expect((await host.request('GET', `/~meet/Contact/${id}`)).body).toMatchObject(a.get(id)!.data)
})

verifies(['scope.write'], 'a sync needs write, and tells and takes only what the key may', async () => {
  const [crm, reader] = [await host.key('scopes', 'write:crm'), await host.key('scopes', 'read:all')]
  await host.request('POST', '/~scopes/Contact', { name: 'Ada' })
  await host.request('POST', '/~scopes/Ticket', { subject: 'Secret' })

  const refused = await host.as(reader)('POST', '/~scopes/sync', {})
  const answer = await host.as(crm)('POST', '/sync', {
    changes: [
      {
        type: 'Ticket',
        id: 'ticket_1',
        operation: 'create',
        data: { subject: 'X' },
        timestamp: '2026-01-01T00:00:00Z',
      },
    ],
  })

  expect(refused.status).toBe(403)
  expect(answer.body.serverChanges.map(({ type }: { type: string }) => type)).toEqual(['Contact'])
  expect(answer.body.rejected).toMatchObject([{ index: 0 }])
  expect(JSON.stringify(answer.body)).not.toContain('Secret')
})

verifies(
  ['scope.write'],
  'a key that is narrowed to rows syncs these rows alone, and hears of those that left',
  async () => {
    const key = await host.key('rows', 'write:crm', { filter: { Contact: { stage: 'Lead' } } })
    const mine = (await host.request('POST', '/~rows/Contact', { name: 'Mine' })).body.$id
    await host.request('POST', '/~rows/Contact', { name: 'Not mine', stage: 'Partner' })
    const first = (await host.as(key)('POST', '/sync', {})).body
    await host.request('PUT', `/~rows/Contact/${mine}`, { stage: 'Customer' })

    const second = (await host.as(key)('POST', '/sync', { lastSyncAt: first.syncedAt })).body

    expect(first.serverChanges).toMatchObject([{ id: mine, operation: 'create' }])
    expect(second.serverChanges).toMatchObject([{ id: mine, operation: 'delete', data: {} }])
  },
)

verifies(['sync.request'], 'a request that is none is refused with what is wrong', async () => {
  const refused = [
    ['lastSyncAt', { lastSyncAt: 'yesterday' }],
    ['changes', { changes: {} }],
    ['replica', { replica: 'a b' }],
    ['types', { types: 'Contact' }],
    ['limit', { limit: 0 }],
  ] as const
  for (const [field, body] of refused) {
    const answer = await host.request('POST', '/~acme/sync', body)

    expect([field, answer.status, answer.body.field]).toEqual([field, 400, field])
  }
  expect((await host.request('POST', '/~acme/sync', [])).status).toBe(400)
})

verifies(['log.syncedAt'], 'a syncedAt holds over a restart', async () => {
  await host.request('POST', '/~restarted/Contact', { name: 'Ada' })
  const { syncedAt } = (await host.request('POST', '/~restarted/sync', {})).body
  await host.restart()

  const { $updatedAt } = (await host.request('POST', '/~restarted/Contact', { name: 'Bob' })).body

  expect(Date.parse($updatedAt)).toBeGreaterThan(Date.parse(syncedAt))
})
