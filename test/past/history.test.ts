import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

let tenants = 0
/** A tenant of one's own. */
const fresh = () => `t${++tenants}`
const NDJSON = { 'content-type': 'application/x-ndjson' }

const send = (tenant: string, rows: readonly object[]) => host.request('POST', `/~${tenant}/import/history`, rows)
const read = async (path: string) => (await host.request('GET', path)).body

const ada = (verb: string, timestamp: string, data?: object) => ({
  type: 'Contact',
  source: 'crm:contact:1',
  verb,
  timestamp,
  ...(data && { data }),
})

const STORY = [
  ada('create', '2024-01-10T09:00:00Z', { name: 'Ada', email: 'ada@x.y' }),
  ada('update', '2024-03-01T10:00:00Z', { phone: '1' }),
  ada('qualify', '2024-06-01T10:00:00Z', { stage: 'Qualified' }),
  ada('delete', '2025-02-01T10:00:00Z'),
]

describe('an imported past', () => {
  verifies(
    ['past.rows', 'past.event', 'past.reads', 'past.answer', 'past.names'],
    'has the times at which it happened, in every view of the past',
    async () => {
      const tenant = fresh()
      const before = Date.now()

      const { status, body } = await send(tenant, STORY)

      expect(status).toBe(200)
      expect(body).toEqual({ success: true, imported: 4, repeated: 0, errors: 0, details: [] })
      const events = (await read(`/~${tenant}/events`)).results
      expect(events.map((event: any) => [event.type, event.timestamp])).toEqual([
        ['Contact.created', '2024-01-10T09:00:00.000Z'],
        ['Contact.updated', '2024-03-01T10:00:00.000Z'],
        ['Contact.qualified', '2024-06-01T10:00:00.000Z'],
        ['Contact.deleted', '2025-02-01T10:00:00.000Z'],
      ])
      for (const { recordedAt } of events) expect(Date.parse(recordedAt)).toBeGreaterThanOrEqual(before)
      const at = async (time: string) => (await read(`/~${tenant}/Contact?asOf=${time}`)).results
      expect(await at('2024-01-01T00:00:00Z')).toEqual([])
      expect(await at('2024-02-01T00:00:00Z')).toMatchObject([{ name: 'Ada', stage: 'Lead', $version: 1 }])
      expect(await at('2024-07-01T00:00:00Z')).toMatchObject([
        {
          phone: '1',
          stage: 'Qualified',
          $version: 3,
          createdAt: '2024-01-10T09:00:00.000Z',
          updatedAt: '2024-06-01T10:00:00.000Z',
          $source: ['crm:contact:1'],
        },
      ])
      expect((await read(`/~${tenant}/Contact`)).total).toBe(0)
      const { entityId } = events[0]
      const versions = (await read(`/~${tenant}/Contact/${entityId}/history`)).results
      expect(versions[0].timestamp).toBe('2025-02-01T10:00:00.000Z')
      expect(versions[0].recordedAt).toBe(events[3].recordedAt)
      const diff = await read(`/~${tenant}/Contact/${entityId}/diff?from=2024-02-01T00:00:00Z&to=2024-07-01T00:00:00Z`)
      expect(JSON.stringify(diff)).toContain('Qualified')
    },
  )

  verifies('past.repeated', 'is not written twice, and the rest of it is imported', async () => {
    const tenant = fresh()
    await send(tenant, STORY.slice(0, 2))

    const again = await send(tenant, STORY)
    const whole = await send(tenant, STORY)

    expect(again.body).toMatchObject({ imported: 2, repeated: 2, errors: 0 })
    expect(whole.body).toMatchObject({ imported: 0, repeated: 4, errors: 0 })
    expect((await read(`/~${tenant}/events`)).results).toHaveLength(4)
  })

  verifies('past.repeated', 'tells a row with other data or another time from a repeated one', async () => {
    const tenant = fresh()
    await send(tenant, STORY)

    const { body } = await send(tenant, [
      ada('create', '2024-01-10T09:00:00Z', { name: 'Ada', email: 'other@x.y' }),
      ada('create', '2024-01-10T09:00:00Z', { name: 'Ada' }),
      ada('update', '2024-03-01T10:00:00Z', { phone: '2' }),
      ada('update', '2024-03-01T10:00:01Z', { phone: '1' }),
      ada('update', '2024-06-01T10:00:00Z', { stage: 'Qualified' }),
    ])

    expect(body).toMatchObject({ imported: 0, repeated: 0, errors: 5 })
    expect(body.details).toEqual(
      [0, 1, 2, 3, 4].map((row) => ({ row, error: 'out_of_order', head: '2025-02-01T10:00:00.000Z' })),
    )
  })

  test('says where time begins for a row that is earlier', async () => {
    const tenant = fresh()
    const { body } = await send(tenant, [
      ada('create', '0001-01-01T00:00:00Z', { name: 'Ada' }),
      ada('create', '1970-01-01T00:00:00Z', { name: 'Ada' }),
      ada('create', '1970-01-01T00:00:00.001Z', { name: 'Ada' }),
    ])

    expect(body).toMatchObject({ imported: 1, errors: 2 })
    expect(body.details.map(({ error }: { error: string }) => error)).toEqual([
      expect.stringContaining('after 1970-01-01T00:00:00Z'),
      expect.stringContaining('after 1970-01-01T00:00:00Z'),
    ])
  })

  verifies(
    'past.repeated',
    'has an event for an update that changes nothing, which is known when it is sent again',
    async () => {
      const tenant = fresh()
      const rows = [STORY[0]!, ada('update', '2024-02-01T00:00:00Z', { name: 'Ada' })]

      expect((await send(tenant, rows)).body).toMatchObject({ imported: 2, repeated: 0 })
      expect((await send(tenant, rows)).body).toMatchObject({ imported: 0, repeated: 2 })
    },
  )

  verifies('past.order', 'is accepted in the order of time only', async () => {
    const tenant = fresh()
    await send(tenant, STORY.slice(0, 2))

    const { body } = await host.request(
      'POST',
      `/~${tenant}/import/history`,
      [
        ada('update', '2024-02-29T00:00:00Z', { phone: '2' }),
        ada('update', '2999-01-01T00:00:00Z', { phone: '3' }),
        ada('update', '2024-03-01T10:00:00Z', { phone: '4' }),
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
      NDJSON,
    )

    const head = '2024-03-01T10:00:00.000Z'
    expect(body).toMatchObject({ imported: 1, repeated: 0, errors: 2 })
    expect(body.details).toEqual([
      { row: 0, line: 1, error: 'out_of_order', head },
      { row: 1, line: 2, error: 'out_of_order', head },
    ])
  })

  verifies('past.order', 'comes after every syncedAt that was given out', async () => {
    const tenant = fresh()
    await host.key(tenant, 'read:all')
    const { body: synced } = await host.request('POST', `/~${tenant}/sync`, { lastSyncAt: null, changes: [] })

    const { body } = await send(tenant, STORY)

    expect(body).toMatchObject({ imported: 0, errors: 4 })
    expect(body.details[0]).toEqual({ row: 0, error: 'out_of_order', head: synced.syncedAt })
  })

  verifies(
    'past.own.times',
    'comes into a tenant that has keys, people, roles, types and hooks, which keep their times',
    async () => {
      const tenant = fresh()
      const began = new Date(Date.now() - 1).toISOString()
      await host.key(tenant, 'read:all')
      await host.request('POST', `/~${tenant}/User`, { name: 'Eve', email: 'eve@x.y' })
      await host.request('PUT', `/~${tenant}/schema/roles/Reader`, { scopes: 'read:crm' })
      await host.request('PUT', `/~${tenant}/schema/Boat`, { name: 'string!', owner: '-> Contact.boats' })
      await host.request('PUT', `/~${tenant}/schema/Boat/hooks/created`, { code: '() => {}' })
      const boat = {
        type: 'Boat',
        source: 'b:1',
        verb: 'create',
        timestamp: '2024-04-01T00:00:00Z',
        data: { name: 'Argo', owner: { source: 'crm:contact:1' } },
      }

      const { body } = await send(tenant, [STORY[0]!, STORY[1]!, boat])

      expect(body).toMatchObject({ imported: 3, errors: 0 })
      const boats = await read(`/~${tenant}/Boat?asOf=2024-05-01T00:00:00Z&include=owner`)
      expect(boats.results).toMatchObject([{ name: 'Argo', owner: { name: 'Ada', phone: '1' } }])
      expect((await read(`/~${tenant}/User?asOf=2024-05-01T00:00:00Z`)).total).toBe(0)
      expect((await read(`/~${tenant}/User?asOf=now`)).total).toBe(1)
      const events = (await read(`/~${tenant}/events?type=User,ApiKey`)).results
      for (const event of events) {
        expect(event.timestamp > began).toBe(true)
        expect(event).not.toHaveProperty('recordedAt')
      }
      await host.request('POST', `/~${tenant}/User`, { name: 'Max', email: 'max@x.y' })
      const later = { ...boat, source: 'b:2', timestamp: '2024-06-01T00:00:00Z' }
      expect((await send(tenant, [later])).body).toMatchObject({ imported: 1 })
      await host.request('POST', `/~${tenant}/Contact`, { name: 'Live' })
      expect((await send(tenant, [{ ...later, source: 'b:3' }])).body.details[0].error).toBe('out_of_order')
    },
  )

  verifies('past.rights', 'needs admin:all, and has nothing of the service’s own types', async () => {
    const tenant = fresh()
    const narrow = host.as(await host.key(tenant, 'write:all,admin:crm'))

    const refused = await narrow('POST', `/~${tenant}/import/history`, STORY)
    const { body } = await send(
      tenant,
      ['ApiKey', 'User', 'Webhook', 'Workflow', 'Integration', 'Changeset'].map((type) => ({
        type,
        verb: 'create',
        timestamp: '2024-01-01T00:00:00Z',
        data: { name: 'x' },
      })),
    )

    expect(refused.status).toBe(403)
    expect(refused.body.message).toContain('admin:all')
    expect(body).toMatchObject({ imported: 0, errors: 6 })
  })

  verifies(
    ['past.names', 'past.source.filter', 'past.source.reference'],
    'names entities by id or source, and refers by source',
    async () => {
      const tenant = fresh()
      const org = {
        type: 'Organization',
        source: 'hubspot:company:7',
        verb: 'create',
        timestamp: '2023-01-01T00:00:00Z',
        data: { name: 'Acme' },
      }
      const contact = ada('create', '2023-02-01T00:00:00Z', {
        name: 'Ada',
        organization: { source: 'hubspot:company:7' },
      })
      const id = 'contact_00000000000000001'

      const { body } = await send(tenant, [
        org,
        contact,
        { ...contact, source: undefined, id, data: { name: 'Bob' } },
        {
          type: 'Contact',
          id,
          source: 'stripe:customer:b',
          verb: 'update',
          timestamp: '2023-03-01T00:00:00Z',
          data: {},
        },
        { ...contact, source: 'nobody', verb: 'update', timestamp: '2023-04-01T00:00:00Z' },
        { ...contact, id, verb: 'update', timestamp: '2023-04-01T00:00:00Z' },
        {
          ...contact,
          source: 'x',
          timestamp: '2023-04-01T00:00:00Z',
          data: { name: 'C', organization: { source: 'y' } },
        },
        { ...contact, timestamp: '2023-04-01T00:00:00Z', data: { name: 'Again' } },
      ])

      expect(body).toMatchObject({ imported: 4, errors: 4 })
      expect(body.details.map(({ row }: any) => row)).toEqual([4, 5, 6, 7])
      const [bob] = (await read(`/~${tenant}/Contact?$source=stripe:customer:b`)).results
      expect(bob).toMatchObject({ $id: id, name: 'Bob', $source: ['stripe:customer:b'] })
      const [acme] = (await read(`/~${tenant}/Organization?$source=hubspot:company:7&include=contacts`)).results
      expect(acme.contacts).toMatchObject([{ name: 'Ada' }])
      const filter = encodeURIComponent(JSON.stringify({ $source: { $in: ['crm:contact:1', 'z'] } }))
      expect((await read(`/~${tenant}/Contact?filter=${filter}`)).results).toMatchObject([{ name: 'Ada' }])
      const none = encodeURIComponent(JSON.stringify({ $source: { $exists: false } }))
      expect((await read(`/~${tenant}/Contact?filter=${none}`)).total).toBe(0)
      expect((await read(`/~${tenant}/Contact?$source=stripe:customer:b&asOf=2023-02-15T00:00:00Z`)).total).toBe(0)
      const related = encodeURIComponent(JSON.stringify({ 'organization.$source': 'hubspot:company:7' }))
      expect((await read(`/~${tenant}/Contact?filter=${related}`)).results).toMatchObject([{ name: 'Ada' }])
      await host.request('PUT', `/~${tenant}/Contact/${id}`, { $source: ['forged'], phone: '9' })
      expect((await read(`/~${tenant}/Contact/${id}`)).$source).toEqual(['stripe:customer:b'])
    },
  )

  verifies('past.states', 'has its states checked, but not the way to them', async () => {
    const tenant = fresh()
    await host.request('PUT', `/~${tenant}/schema/Deal`, { $guarded: true })
    const deal = (verb: string, timestamp: string, data: object) => ({
      type: 'Deal',
      source: 'd:1',
      verb,
      timestamp,
      data,
    })

    const { body } = await send(tenant, [
      deal('create', '2024-01-01T00:00:00Z', { name: 'Big', value: 5, stage: 'Won' }),
      deal('update', '2024-02-01T00:00:00Z', { stage: 'Prospecting' }),
      deal('update', '2024-02-02T00:00:00Z', { stage: 'Nowhere' }),
      deal('win', '2024-03-01T00:00:00Z', { stage: 'Proposal' }),
      deal('win', '2024-04-01T00:00:00Z', {}),
    ])

    expect(body).toMatchObject({ imported: 4, errors: 1 })
    expect(body.details[0]).toMatchObject({ row: 2 })
    expect((await read(`/~${tenant}/Deal`)).results).toMatchObject([{ stage: 'Proposal', $version: 4 }])
  })

  verifies('past.event', 'keeps the actor of a row', async () => {
    const tenant = fresh()
    await send(tenant, [{ ...STORY[0]!, actor: 'jane@example.com' }, STORY[1]!])

    const [created, updated] = (await read(`/~${tenant}/events`)).results
    expect(created).toMatchObject({ actor: 'jane@example.com', data: { $createdBy: 'jane@example.com' } })
    expect(updated.actor).toBe('operator')
  })

  test('refuses invalid rows with a sentence', async () => {
    const tenant = fresh()
    const { body } = await send(tenant, [
      { ...STORY[0]!, timestamp: 'yesterday' },
      { ...STORY[0]!, timestamp: undefined },
      { ...STORY[0]!, type: 'Nothing' },
      { ...STORY[0]!, verb: 'dance' },
      { ...STORY[0]!, verb: 'rollback' },
      { ...STORY[0]!, id: 'deal_1' },
      { ...STORY[0]!, data: 'x' },
      { ...STORY[0]!, extra: 1 },
      { type: 'Contact', verb: 'update', timestamp: '2024-01-01T00:00:00Z' },
      { type: 'Contact', verb: 'create', timestamp: '2024-01-01T00:00:00Z', data: {} },
      7 as never,
    ])

    expect(body).toMatchObject({ imported: 0, errors: 11 })
    for (const { error } of body.details) expect(error).toMatch(/^[A-Za-z].{9,}\.?$/s)
  })
})

describe('an imported past and the rest of the service', () => {
  verifies('past.quiet', 'runs no hook, webhook, workflow or past timer', async () => {
    const tenant = fresh()
    const at = (verb: string, timestamp: string, data: object) => ({ type: 'Boat', source: 'b', verb, timestamp, data })
    await host.request('PUT', `/~${tenant}/schema/Boat`, {
      name: 'string!',
      state: 'New | Sunk = New',
      due: 'datetime',
      later: 'datetime',
      sink: { event: 'sunk', set: { state: 'Sunk' } },
      $timers: { old: { at: 'due', run: 'sink' }, next: { at: 'later', run: 'sink' } },
    })
    await host.request('PUT', `/~${tenant}/schema/Boat/hooks/creating`, { code: '() => { throw new Error("no") }' })
    await host.request('PUT', `/~${tenant}/schema/Boat/hooks/created`, {
      code: '(boat, $) => $.Contact.create({ name: boat.name })',
    })
    const webhook = await host.request('POST', `/~${tenant}/webhooks`, {
      url: 'https://example.com/',
      events: ['Boat.*'],
    })
    const workflow = await host.request('POST', `/~${tenant}/Workflow`, {
      name: 'Copy',
      triggerEvent: 'Boat.created',
      steps: [{ verb: 'create', type: 'Contact', args: { name: 'x' } }],
    })
    await host.request('POST', `/~${tenant}/Workflow/${workflow.body.$id}/activate`)

    const { body } = await send(tenant, [
      at('create', '2024-01-01T00:00:00Z', { name: 'Argo', due: '2024-02-01T00:00:00Z' }),
      at('update', '2024-01-02T00:00:00Z', { later: '2024-03-01T00:00:00Z' }),
      { ...at('create', '2024-01-03T00:00:00Z', { name: 'Next', due: '2999-01-01T00:00:00Z' }), source: 'c' },
    ])
    await new Promise((resolve) => setTimeout(resolve, 300))

    expect(body).toMatchObject({ imported: 3, errors: 0 })
    expect((await read(`/~${tenant}/Contact`)).total).toBe(0)
    expect((await read(`/~${tenant}/Boat?state=New`)).total).toBe(2)
    expect((await read(`/~${tenant}/webhooks/${webhook.body.$id}/deliveries`)).results).toEqual([])
    expect((await read(`/~${tenant}/Workflow/${workflow.body.$id}/runs`)).results).toEqual([])
    const [next] = (await read(`/~${tenant}/Boat?name=Next`)).results
    const { timers } = await read(`/~${tenant}/Boat/${next.$id}/timers`)
    expect(timers).toMatchObject([{ name: 'old', at: '2999-01-01T00:00:00.000Z' }])
    const [argo] = (await read(`/~${tenant}/Boat?name=Argo`)).results
    expect((await read(`/~${tenant}/Boat/${argo.$id}/timers`)).timers).toEqual([])
  })

  test('reaches a replica page by page, with the people that were there first', async () => {
    const tenant = fresh()
    for (const name of ['A', 'B', 'C']) await host.request('POST', `/~${tenant}/User`, { name, email: `${name}@x.y` })
    const rows = Array.from({ length: 30 }, (_, i) => ({
      type: 'Contact',
      source: `c:${i}`,
      verb: 'create',
      timestamp: new Date(Date.UTC(2024, 0, 1 + Math.floor(i / 2))).toISOString(),
      data: { name: `C${i}` },
    }))
    await send(tenant, rows)
    await host.request('POST', `/~${tenant}/User`, { name: 'D', email: 'd@x.y' })
    await send(
      tenant,
      rows.map((row, i) => ({ ...row, source: `d:${i}`, timestamp: row.timestamp.replace('2024', '2025') })),
    )

    const told = new Set<string>()
    let lastSyncAt: string | null = null
    let pages = 0
    for (let hasMore = true; hasMore && pages < 50; pages++) {
      const { body } = await host.request('POST', `/~${tenant}/sync`, { lastSyncAt, changes: [], limit: 4 })
      for (const { type, data } of body.serverChanges) told.add(`${type} ${data.name}`)
      lastSyncAt = body.syncedAt
      hasMore = body.hasMore
    }

    expect(pages).toBeGreaterThan(5)
    expect([...told].filter((name) => name.startsWith('User')).sort()).toEqual(['User A', 'User B', 'User C', 'User D'])
    expect([...told].filter((name) => name.startsWith('Contact'))).toHaveLength(30)
  })

  verifies(['past.proof', 'past.reads'], 'is backed up, restored, verified and exported with its sources', async () => {
    const tenant = fresh()
    await send(tenant, STORY.slice(0, 3))
    await send(tenant, [{ ...ada('create', '2024-07-01T00:00:00Z', { name: 'Max' }), source: 'crm:contact:2' }])

    const log = (await host.request('GET', `/operator/tenants/${tenant}/log`)).text
    const verdict = await host.request('GET', `/operator/tenants/${tenant}/verify`)
    const exported = await read(`/~${tenant}/export/Contact`)
    const csv = (await host.request('GET', `/~${tenant}/export/Contact?format=csv`)).text
    const copy = fresh()
    const imported = await host.request('POST', `/~${copy}/import/Contact`, exported)
    const other = fresh()
    const fromCsv = await host.request('POST', `/~${other}/import/Contact`, csv, { 'content-type': 'text/csv' })

    expect(log.split('\n').filter((line) => line.includes('"recordedAt":'))).toHaveLength(4)
    expect(verdict.body).toMatchObject({ ok: true })
    expect(imported.body).toMatchObject({ imported: 2 })
    expect(fromCsv.body).toMatchObject({ imported: 2 })
    for (const slug of [copy, other]) {
      expect((await read(`/~${slug}/Contact?$source=crm:contact:1`)).results).toMatchObject([{ name: 'Ada' }])
    }
    const [created] = (await read(`/~${tenant}/events`)).results
    const { entry } = await read(`/~${tenant}/proof/${created.id}`)
    expect(JSON.parse(entry.header).slice(2, 3)).toEqual([Date.parse(created.timestamp)])
    expect(JSON.parse(entry.header).at(-1)).toBe(Date.parse(created.recordedAt))
  })
})
