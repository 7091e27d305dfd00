import { type Grant, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { sync } from '../../packages/tenant/src/services/sync/sync.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { openAcme } from '../tenant/fixture.ts'

function open() {
  const { tenant, clock } = openAcme()
  const start = clock.at
  const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
  return {
    tenant,
    send: (body: object, grant: Grant = OPERATOR) => tenant.write(grant, (write) => sync(write, body)),
    act: (verb: string, data: object, id?: string) =>
      tenant.run(OPERATOR, { type: 'Contact', verb, data, id }).entity.id,
    /** A change of a Contact, made so many seconds after the start. */
    change: (id: string, operation: string, data: object, seconds: number, more: object = {}) => ({
      type: 'Contact',
      id,
      operation,
      data,
      timestamp: at(seconds),
      ...more,
    }),
    at: (seconds: number) => {
      clock.at = start + seconds * 1_000
    },
    events: (id: string): string[] =>
      tenant.sql.rows('SELECT event FROM events WHERE entity = ? ORDER BY seq', id).map(([event]) => event),
  }
}

test.each(['update', 'delete', 'create'])(
  'a grant learns nothing of a deleted entity that it did not see by %s, and leaves nothing at it',
  (operation) => {
    const { tenant, send, act, change, at } = open()
    const grant = { ...OPERATOR, rows: { Contact: { stage: 'Lead' } } }
    at(10)
    const id = act('create', { name: 'Ada', stage: 'Partner' })
    act('delete', {}, id)
    const { seq } = tenant.head
    at(20)

    const answers = [5, 15].map((seconds) =>
      send({ changes: [change(id, operation, { name: 'Eve', stage: 'Lead' }, seconds)] }, grant),
    )

    for (const { applied, conflicts, rejected } of answers)
      expect([applied, conflicts, rejected]).toEqual([0, 0, [{ index: 0, error: `There is no Contact ${id}.` }]])
    expect(tenant.head.seq).toBe(seq)
  },
)

test('a grant that saw an entity brings it back after its deletion', () => {
  const { send, act, change, at, events } = open()
  const grant = { ...OPERATOR, rows: { Contact: { stage: 'Lead' } } }
  at(10)
  const id = act('create', { name: 'Ada', stage: 'Lead' })
  act('delete', {}, id)
  at(20)

  const { applied } = send({ changes: [change(id, 'create', { name: 'Eve' }, 15)] }, grant)

  expect([applied, events(id)]).toEqual([1, ['created', 'deleted', 'restored', 'updated']])
})

test.each<[string, Grant]>([
  [
    'may not write its type',
    {
      ...OPERATOR,
      scopes: [
        { action: 'read', area: 'all' },
        { action: 'write', area: 'support' },
      ],
    },
  ],
  ['does not see it', { ...OPERATOR, rows: { Contact: { stage: 'Lead' } } }],
])('a grant that %s cannot leave even a conflict at an entity', (_, grant) => {
  const { tenant, send, act, change, at } = open()
  at(10)
  const id = act('create', { name: 'Ada', stage: 'Partner' })
  const { seq } = tenant.head

  const answer = send({ changes: [change(id, 'update', { name: 'Eve' }, 1), change(id, 'delete', {}, 1)] }, grant)

  expect(answer).toMatchObject({ applied: 0, conflicts: 0, rejected: [{ index: 0 }, { index: 1 }] })
  expect(tenant.head.seq).toBe(seq)
})

test('a grant that may only read cannot sync', () => {
  const { tenant, send, change } = open()
  const grant: Grant = { ...OPERATOR, scopes: [{ action: 'read', area: 'all' }] }

  expect(() => send({ changes: [change('contact_1', 'create', { name: 'Eve' }, 1)] }, grant)).toThrow(
    expect.objectContaining({ code: 'forbidden' }),
  )
  expect(tenant.head.seq).toBe(0)
})

test('a tracked event is applied once, sent to others, and not sent back', () => {
  const { tenant, send, change } = open()
  const track = (name: string) => change('event_local1', 'create', { name, type: 'track' }, 1, { type: 'Event' })

  const first = send({ changes: [track('signup')] })
  const again = send({ changes: [track('another')] })
  const other = send({})

  expect(first).toMatchObject({ applied: 1, serverChanges: [] })
  expect(again).toMatchObject({ applied: 1, rejected: [] })
  expect(tenant.head.seq).toBe(1)
  expect(other.serverChanges).toMatchObject([{ type: 'Event', operation: 'create', data: { name: 'signup' } }])
})

test('what loses and says the same is not a conflict', () => {
  const { send, act, change, at, events } = open()
  at(10)
  const id = act('create', { name: 'Ada', phone: '1' })

  const answer = send({ changes: [change(id, 'update', { name: 'Ada' }, 1)] })

  expect(answer).toMatchObject({ applied: 1, conflicts: 0 })
  expect(events(id)).toEqual(['created'])
})

test('a delete that loses stays in the log as a conflict', () => {
  const { send, act, change, at, events } = open()
  at(10)
  const id = act('create', { name: 'Ada' })

  expect(send({ changes: [change(id, 'delete', {}, 1)] })).toMatchObject({ applied: 0, conflicts: 1 })
  expect(events(id)).toEqual(['created', 'conflicted'])
})

test('an update whose author has seen a deletion restores the entity only if it was made after that', () => {
  const { send, act, change, at, events } = open()
  const id = act('create', { name: 'Ada' })
  at(10)
  act('delete', {}, id)
  const lastSyncAt = send({}).syncedAt

  const late = send({ lastSyncAt, changes: [change(id, 'update', { name: 'Eve' }, 5)] })
  const newer = send({ lastSyncAt, changes: [change(id, 'update', { name: 'Eve' }, 20)] })

  expect([late.conflicts, newer.applied]).toEqual([1, 1])
  expect(events(id)).toEqual(['created', 'deleted', 'conflicted', 'restored', 'updated'])
})

test('a change is the same in whatever order its fields and its clock are sent', () => {
  const { tenant, send, act, change } = open()
  const id = act('create', { name: 'Ada' })
  send({ changes: [change(id, 'update', { name: 'Eve', phone: '1' }, 5, { clock: { a: 1, server: 9 } })] })
  act('update', { name: 'Zoe' }, id)
  const { seq } = tenant.head

  const again = send({
    changes: [change(id, 'update', { phone: '1', name: 'Eve' }, 5, { clock: { server: 9, a: 1 } })],
  })

  expect(again).toMatchObject({ applied: 1, conflicts: 0 })
  expect(tenant.head.seq).toBe(seq)
})

test('a change without an id is rejected for that', () => {
  const { send, change } = open()

  expect(send({ changes: [change('', 'create', { name: 'Ada' }, 1)] }).rejected[0]!.error).toMatch(/needs the id/)
})

test('keys, webhooks and what declares types stay on the server', () => {
  const { tenant, send, act } = open()
  tenant.run(OPERATOR, { type: 'ApiKey', verb: 'create', data: { name: 'k' } })
  tenant.run(OPERATOR, { type: 'Webhook', verb: 'create', data: { url: 'https://a.example/', events: ['*'] } })
  tenant.write(grantFor('t'), (write) => putType(write, 'Boat', { name: 'string!' }))
  act('create', { name: 'Ada' })

  expect(send({}).serverChanges.map(({ type }) => type)).toEqual(['Contact'])
})

test('everything is sent, however long the log, in one answer or page by page', () => {
  const { tenant, send, act, at } = open()
  for (let i = 0; i < 1_100; i++) {
    at(i)
    act('create', { name: `n${i}` })
  }
  const pages = [send({ limit: 300 })]
  while (pages.at(-1)!.hasMore) pages.push(send({ limit: 300, lastSyncAt: pages.at(-1)!.syncedAt }))

  expect(send({ limit: 10_000 }).serverChanges).toHaveLength(1_100)
  expect(new Set(pages.flatMap(({ serverChanges }) => serverChanges.map(({ id }) => id))).size).toBe(1_100)
  expect(tenant.head.seq).toBe(1_100)
})

test('what came by a sync is decided again once it was changed otherwise', () => {
  const { send, act, change, at, events } = open()
  const id = act('create', { name: 'Ada' })
  at(20)
  send({ changes: [change(id, 'update', { phone: '1' }, 5)] })
  act('update', { phone: '2' }, id)

  expect(send({ changes: [change(id, 'update', { phone: '3' }, 10)] }).conflicts).toBe(1)
  expect(events(id)).toEqual(['created', 'updated', 'updated', 'conflicted'])
})

test('of two changes of one replica at one time the later one wins', () => {
  const { tenant, send, act, change } = open()
  const id = act('create', { name: 'Ada' })
  const both = ['1', '2'].map((phone) => change(id, 'update', { phone }, 5))

  expect(send({ replica: 'r', changes: both })).toMatchObject({ applied: 2, conflicts: 0 })
  expect(tenant.session('t').Contact!.get!(id).phone).toBe('2')
})

test('a delete from before a restoration loses against it', () => {
  const { send, act, change, at, events } = open()
  const id = act('create', { name: 'Ada' })
  at(10)
  act('delete', {}, id)
  at(20)
  act('restore', {}, id)

  expect(send({ changes: [change(id, 'delete', {}, 15)] }).conflicts).toBe(1)
  expect(events(id)).toEqual(['created', 'deleted', 'restored', 'conflicted'])
})

test('the end of a sync is never before the newest event, though the clock goes back', () => {
  const { tenant, send, act, at } = open()
  at(60)
  act('create', { name: 'Ada' })
  at(0)

  const { syncedAt } = send({})
  act('create', { name: 'Bob' })

  expect(Date.parse(syncedAt)).toBeLessThan(tenant.head.at)
  expect(send({ lastSyncAt: syncedAt }).serverChanges).toMatchObject([{ data: { name: 'Bob' } }])
})

test.each([
  ['too many changes', { changes: Array.from({ length: 10_001 }, () => ({})) }, 'too_many'],
  ['a replica without a name', { replica: '' }, 'invalid_parameter'],
  ['a replica with too long a name', { replica: 'x'.repeat(129) }, 'invalid_parameter'],
])('a sync with %s is refused', (_, body, code) => {
  expect(() => open().send(body)).toThrow(expect.objectContaining({ code }))
})
