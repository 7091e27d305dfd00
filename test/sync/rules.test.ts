import { describe, expect } from 'vitest'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { sync } from '../../packages/tenant/src/services/sync/sync.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const iso = (ms: number) => new Date(ms).toISOString()

function open() {
  const { tenant, clock } = openAcme()
  const grant = grantFor('apiKey_sync')
  const send = (body: object) => tenant.write(grant, (write) => sync(write, body))
  const create = (data: object) => tenant.run(grant, { type: 'Contact', verb: 'create', data }).entity.id
  const update = (id: string, data: object) => tenant.run(grant, { type: 'Contact', verb: 'update', id, data })
  const remove = (id: string) => tenant.run(grant, { type: 'Contact', verb: 'delete', id })
  const data = (id: string) =>
    JSON.parse(tenant.sql.rows('SELECT data FROM states WHERE id = ? AND gone = 0', id)[0]?.[0] ?? 'null')
  const events = (id: string) =>
    tenant.sql.rows('SELECT event, previous FROM events WHERE entity = ? ORDER BY seq', id).map(([event]) => event)
  /** A change of a Contact, `seconds` after the clock's start. */
  const at = (seconds: number) => iso(Date.UTC(2026, 0, 1) + seconds * 1_000)
  const change = (id: string, operation: string, fields: object | undefined, seconds: number, more: object = {}) => ({
    type: 'Contact',
    id,
    operation,
    ...(fields && { data: fields }),
    timestamp: at(seconds),
    ...more,
  })
  const tick = (seconds = 1) => {
    clock.at += seconds * 1_000
  }
  return { tenant, send, create, update, remove, data, events, change, at, tick }
}

describe('a sync', () => {
  verifies(
    [
      'sync.both',
      'sync.request',
      'sync.answer',
      'sync.serverChanges',
      'sync.syncedAt',
      'sync.change',
      'sync.operations',
    ],
    'takes the changes of a client and tells those of the server',
    () => {
      const { send, create, data, change, at, tick } = open()
      const id = create({ name: 'Ada' })
      const first = send({})
      tick(10)

      const answer = send({
        lastSyncAt: first.syncedAt,
        changes: [
          change('contact_local1', 'create', { name: 'Grace' }, 1),
          change(id, 'update', { phone: '1' }, 2),
          change('contact_local1', 'delete', undefined, 3),
        ],
      })

      expect(first.serverChanges).toMatchObject([
        { type: 'Contact', id, operation: 'create', data: { name: 'Ada', stage: 'Lead' }, timestamp: at(0) },
      ])
      expect(first).toMatchObject({ success: true, applied: 0, conflicts: 0, rejected: [], hasMore: false })
      expect(answer).toMatchObject({ success: true, applied: 3, conflicts: 0, serverChanges: [], syncedAt: at(10) })
      expect(data(id)).toMatchObject({ name: 'Ada', phone: '1' })
      expect(data('contact_local1')).toBeNull()
    },
  )

  verifies(
    ['sync.serverChanges', 'sync.decided'],
    'tells one merged change per entity, with the fields that changed',
    () => {
      const { send, create, update, remove, tick, at } = open()
      const [a, b] = [create({ name: 'Ada', phone: '1' }), create({ name: 'Bob' })]
      const { syncedAt } = send({})
      tick(1)
      update(a, { phone: '2' })
      tick(1)
      update(a, { phone: null, title: 'Countess' })
      remove(b)

      const { serverChanges } = send({ lastSyncAt: syncedAt })

      expect(serverChanges).toEqual([
        {
          type: 'Contact',
          id: a,
          operation: 'update',
          data: { phone: null, title: 'Countess' },
          timestamp: at(2),
          clock: { server: 4 },
        },
        { type: 'Contact', id: b, operation: 'delete', data: {}, timestamp: at(2), clock: { server: 5 } },
      ])
    },
  )

  verifies(
    ['sync.echo'],
    'leaves out what the request itself applied unchanged, and tells what the server made of it',
    () => {
      const { send, change } = open()

      const { serverChanges } = send({
        changes: [
          change(
            'contact_x',
            'create',
            { name: 'X', lastEngagement: '2026-01-01T12:00:00+02:00', stage: 'Partner' },
            0,
          ),
        ],
      })

      expect(serverChanges).toMatchObject([
        {
          id: 'contact_x',
          operation: 'update',
          data: { lastEngagement: '2026-01-01T10:00:00.000Z', status: 'Active' },
        },
      ])
      expect(Object.keys(serverChanges[0]!.data).sort()).toEqual(['lastEngagement', 'status'])
    },
  )

  verifies(['sync.paged', 'log.syncedAt'], 'pages a long answer; syncedAt is then the position reached', () => {
    const { send, create, tick, at } = open()
    const ids = Array.from({ length: 5 }, (_, i) => {
      tick(i === 3 ? 0 : 1)
      return create({ name: `C${i}` })
    })
    const seen: string[] = []
    const positions: string[] = []
    let lastSyncAt: string | undefined

    for (let hasMore = true; hasMore; ) {
      const answer = send({ lastSyncAt, limit: 3 })
      seen.push(...answer.serverChanges.map(({ id }) => id))
      positions.push(answer.syncedAt)
      lastSyncAt = answer.syncedAt
      hasMore = answer.hasMore
    }

    expect(seen).toEqual(ids)
    // The third and the fourth share a time, so no page may end between them.
    expect(positions).toEqual([at(3), at(4)])
  })

  verifies(
    ['log.syncedAt', 'sync.syncedAt'],
    'returns a time that no later event has, even if the clock does not advance',
    () => {
      const { tenant, send, create } = open()
      const { syncedAt } = send({})
      create({ name: 'At the same millisecond' })

      const { serverChanges } = send({ lastSyncAt: syncedAt })

      expect(serverChanges).toHaveLength(1)
      expect(tenant.head.at).toBeGreaterThan(Date.parse(syncedAt))
    },
  )
})

describe('when the server changed the same field since', () => {
  verifies(
    ['sync.concurrent.clockless', 'sync.field', 'sync.lastWrite', 'sync.conflicts'],
    'the later timestamp wins, field by field; a change that loses on every field is a conflict',
    () => {
      const { send, create, update, data, events, change, tick } = open()
      const id = create({ name: 'Ada', phone: '0', title: 'none' })
      const { syncedAt } = send({})
      tick(10)
      update(id, { name: 'By REST at 10', phone: '10' })

      const early = send({ lastSyncAt: syncedAt, changes: [change(id, 'update', { name: 'At 5' }, 5)] })
      const mixed = send({
        lastSyncAt: syncedAt,
        changes: [change(id, 'update', { phone: '7', title: 'Countess' }, 7)],
      })
      const late = send({ lastSyncAt: syncedAt, changes: [change(id, 'update', { name: 'At 15' }, 15)] })

      expect([early.applied, early.conflicts]).toEqual([0, 1])
      expect(early.serverChanges).toMatchObject([{ id, data: { name: 'By REST at 10', phone: '10' } }])
      expect([mixed.applied, mixed.conflicts]).toEqual([1, 0])
      expect([late.applied, late.conflicts]).toEqual([1, 0])
      expect(data(id)).toMatchObject({ name: 'At 15', phone: '10', title: 'Countess' })
      expect(events(id)).toEqual(['created', 'updated', 'conflicted', 'updated', 'conflicted', 'updated'])
    },
  )

  verifies(
    'sync.concurrent.clockless',
    'a change that the sender made on top of it wins, however late its clock is',
    () => {
      const { send, create, update, data, change, tick } = open()
      const id = create({ name: 'Ada' })
      tick(100)
      update(id, { name: 'By REST at 100' })
      const { syncedAt } = send({})

      const { applied } = send({
        lastSyncAt: syncedAt,
        changes: [change(id, 'update', { name: 'At 1 by a slow clock' }, 1)],
      })

      expect(applied).toBe(1)
      expect(data(id).name).toBe('At 1 by a slow clock')
    },
  )

  verifies(
    ['sync.field.tie', 'sync.replica'],
    'at equal timestamps the greater replica id wins; the key names it otherwise',
    () => {
      const { send, create, data, change, tick } = open()
      const id = create({ name: 'Ada' })
      const { syncedAt: lastSyncAt } = send({})
      tick()
      const by = (replica: string | undefined, name: string) =>
        send({ lastSyncAt, replica, changes: [change(id, 'update', { name }, 50)] })

      by('b', 'of b')
      const lesser = by('a', 'of a')
      const greater = by('c', 'of c')
      const key = by(undefined, 'of the key')

      expect([lesser.conflicts, greater.applied, key.conflicts]).toEqual([1, 1, 1])
      expect(data(id).name).toBe('of c')
    },
  )

  verifies('sync.field', 'a field that was cleared before it had a value keeps the time of that', () => {
    const { send, change, data } = open()
    const from = (replica: string, ...changes: object[]) => send({ replica, changes })
    const cleared = (id: string, operation: string) =>
      change(id, operation, { name: 'Ada', phone: null }, 5, { clock: { a: 1 } })
    const given = (id: string) => change(id, 'update', { phone: '1' }, 3, { clock: { b: 1 } })
    const later = (id: string) => change(id, 'update', { phone: '2' }, 7, { clock: { c: 1 } })

    from('a', cleared('contact_created', 'create'))
    from('a', change('contact_updated', 'create', { name: 'Ada' }, 1, { clock: { a: 0 } }))
    from('a', cleared('contact_updated', 'update'))
    for (const id of ['contact_created', 'contact_updated']) {
      expect([id, from('b', given(id)), data(id).phone ?? null]).toMatchObject([id, { conflicts: 1 }, null])
      expect([id, from('c', later(id)), data(id).phone]).toMatchObject([id, { conflicts: 0 }, '2'])
    }
  })

  verifies('sync.delete', 'between a delete and an update the later one wins, whichever came first', () => {
    const { send, create, update, remove, data, change, tick } = open()
    const [a, b, c, d] = ['A', 'B', 'C', 'D'].map((name) => create({ name })) as [string, string, string, string]
    const { syncedAt: lastSyncAt } = send({})
    tick(10)
    update(a, { phone: '10' })
    update(b, { phone: '10' })
    remove(c)
    remove(d)

    const deletes = send({
      lastSyncAt,
      changes: [change(a, 'delete', undefined, 5), change(b, 'delete', undefined, 15)],
    })
    const updates = send({
      lastSyncAt,
      changes: [change(c, 'update', { phone: '5' }, 5), change(d, 'update', { phone: '15' }, 15)],
    })

    expect([deletes.applied, deletes.conflicts]).toEqual([1, 1])
    expect([updates.applied, updates.conflicts]).toEqual([1, 1])
    expect(data(a)).toMatchObject({ phone: '10' })
    expect(data(b)).toBeNull()
    expect(data(c)).toBeNull()
    expect(data(d)).toMatchObject({ name: 'D', phone: '15' })
    expect(deletes.serverChanges.find(({ id }) => id === a)).toMatchObject({ operation: 'create', data: { name: 'A' } })
    expect(updates.serverChanges.find(({ id }) => id === c)).toMatchObject({ operation: 'delete' })
  })
})

describe('with clocks', () => {
  verifies(
    ['sync.clocks', 'sync.clock', 'sync.concurrent'],
    'a change that covers the other wins whatever its time; one that is covered loses; else the time decides',
    () => {
      const { send, create, data, change, tick } = open()
      const id = create({ name: 'Ada' })
      const { serverChanges } = send({ replica: 'a' })
      const seen = serverChanges[0]!.clock
      tick()
      const by = (replica: string, name: string, seconds: number, clock: object) =>
        send({ replica, changes: [change(id, 'update', { name }, seconds, { clock })] })

      const covering = by('a', 'a on top of the server', -900, { ...seen, a: 1 })
      const blind = by('b', 'b, blind and earlier', -950, { ...seen, b: 1 })
      const later = by('b', 'b, blind and later', 950, { ...seen, b: 2 })
      const covered = by('a', 'a again, which b had seen', 990, { a: 1 })
      const told = send({ replica: 'c' }).serverChanges[0]!

      expect(seen).toEqual({ server: 1 })
      expect([covering.applied, blind.conflicts, later.applied, covered.conflicts]).toEqual([1, 1, 1, 1])
      expect(data(id).name).toBe('b, blind and later')
      expect(told.clock).toEqual({ a: 1, b: 2, server: 1 })
    },
  )
})

describe('a change', () => {
  verifies(['sync.repeat', 'sync.repeat.applied'], 'that is repeated counts as before and writes nothing', () => {
    const { tenant, send, create, update, data, change, tick } = open()
    const id = create({ name: 'Ada' })
    const { syncedAt: lastSyncAt } = send({})
    tick(10)
    update(id, { phone: '10' })
    const request = {
      lastSyncAt,
      changes: [
        change('contact_new', 'create', { name: 'New' }, 1),
        change(id, 'update', { name: 'From the future' }, 9_000),
        change(id, 'update', { phone: '1' }, 1),
      ],
    }
    const first = send(request)
    update(id, { name: 'Later by REST' })
    const { seq } = tenant.head

    const again = send(request)

    expect([first.applied, first.conflicts]).toEqual([2, 1])
    expect([again.applied, again.conflicts]).toEqual([2, 1])
    expect(tenant.head.seq).toBe(seq)
    expect(data(id).name).toBe('Later by REST')
  })

  verifies(['sync.rejected', 'sync.update.unknown'], 'that is invalid is in rejected, with its index and why', () => {
    const { send, create, change } = open()
    create({ name: 'Ada', email: 'ada@x.y' })

    const answer = send({
      changes: [
        change('contact_unknown', 'update', { name: 'X' }, 1),
        change('contact_1', 'create', { email: 'no@name.x' }, 1),
        change('contact_2', 'create', { name: 'B', email: 'ada@x.y' }, 1),
        change('deal_1', 'create', { name: 'Wrong prefix' }, 1),
        change('contact_3', 'upsert', { name: 'X' }, 1),
        { ...change('contact_4', 'create', { name: 'X' }, 1), timestamp: 'yesterday' },
        change('contact_5', 'create', { name: 'X' }, 1, { clock: { a: -1 } }),
        { ...change('apiKey_1', 'create', { name: 'X' }, 1), type: 'ApiKey' },
        { ...change('x_1', 'create', { name: 'X' }, 1), type: 'Nothing' },
        'text',
        change('contact_6', 'create', { name: 'Good' }, 1),
      ],
    })

    expect([answer.applied, answer.conflicts]).toEqual([1, 0])
    expect(answer.rejected.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(answer.rejected[0]!.error).toContain('There is no Contact contact_unknown')
    expect(answer.rejected[1]!.error).toContain('name: is required')
    expect(answer.rejected[2]!.error).toContain('must be unique')
    expect(answer.rejected.every(({ error }) => /^[A-Z].*\.$|^[a-z]+ is /s.test(error) || error.length > 10)).toBe(true)
  })

  verifies('sync.create.existing', 'that creates an id which is there merges like an update', () => {
    const { send, data, change, tick } = open()
    send({ replica: 'a', changes: [change('contact_both', 'create', { name: 'Of a', phone: '1' }, 10)] })
    tick()

    const { applied } = send({
      replica: 'b',
      changes: [change('contact_both', 'create', { name: 'Of b', title: 'B' }, 5)],
    })

    expect(applied).toBe(1)
    expect(data('contact_both')).toMatchObject({ name: 'Of a', phone: '1', title: 'B' })
  })

  verifies('sync.conflicts', 'that lost stays in the log, with its values, its time and its replica', () => {
    const { tenant, send, create, update, change, tick, at } = open()
    const id = create({ name: 'Ada' })
    const { syncedAt: lastSyncAt } = send({})
    tick(10)
    const { version } = update(id, { name: 'Standing' }).entity
    send({ lastSyncAt, replica: 'phone', changes: [change(id, 'update', { name: 'Losing' }, 5)] })

    const [row] = tenant.sql.rows(`SELECT event, version, data, previous FROM events ORDER BY seq DESC LIMIT 1`)

    expect([row![0], row![1]]).toEqual(['conflicted', version])
    expect(JSON.parse(row![2])).toMatchObject({ name: 'Standing' })
    expect(JSON.parse(row![3])).toEqual({ name: 'Losing', $timestamp: at(5), $replica: 'phone' })
  })

  verifies('sync.rejected', 'may name an entity that a later change of the request creates', () => {
    const { send, change, data } = open()

    const { applied, rejected } = send({
      changes: [
        change('contact_a', 'create', { name: 'A', manager: 'contact_b' }, 1),
        change('contact_b', 'create', { name: 'B' }, 2),
      ],
    })

    expect([applied, rejected]).toEqual([2, []])
    expect(data('contact_a').manager).toBe('contact_b')
  })
})
