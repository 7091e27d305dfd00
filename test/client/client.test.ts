import { Problem, tildebase } from '@tildebase/client'
import { noun } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

let tenants = 0
const fresh = () => tildebase({ tenant: `client${++tenants}`, apiKey: ROOT, baseUrl: host.url })

describe('reading', () => {
  verifies(
    ['client.sdk', 'client.methods', 'client.configured', 'client.remote'],
    'a client of a remote service finds, gets and counts',
    async () => {
      const $ = fresh()
      const ada = await $.Contact.create({ name: 'Ada', stage: 'Qualified' })
      await $.Contact.create({ name: 'Bob' })

      expect((await $.Contact.find({ stage: 'Lead' })).map(({ name }) => name)).toEqual(['Bob'])
      expect((await $.Contact.findOne({ name: 'Ada' }))?.$id).toBe(ada.$id)
      expect(await $.Contact.findOne({ name: 'Eve' })).toBeNull()
      expect(await $.Contact.get(ada.$id)).toEqual(ada)
      expect(await $.Contact.get('contact_nobody0000000000')).toBeNull()
      expect(await $.Contact.count()).toBe(2)
      expect(await $.Contact.count({ stage: 'Lead' })).toBe(1)
    },
  )

  verifies(['client.options', 'client.sort'], 'find takes sort, limit, offset and include', async () => {
    const $ = fresh()
    const acme = await $.Organization.create({ name: 'Acme' })
    for (const name of ['a', 'b', 'c', 'd']) {
      await $.Contact.create({ name, leadScore: name < 'c' ? 1 : 2, organization: acme.$id })
    }

    const page = await $.Contact.find(
      {},
      { sort: { leadScore: -1, name: 1 }, limit: 2, offset: 1, include: ['organization'] },
    )

    expect(page.map(({ name }) => name)).toEqual(['d', 'a'])
    expect(page[0]!.organization?.name).toBe('Acme')
    expect({ total: page.total, hasMore: page.hasMore }).toEqual({ total: 4, hasMore: true })
    const next = await $.Contact.find({}, { sort: 'name', limit: 3 })
    expect((await $.Contact.find({}, { sort: 'name', limit: 3, cursor: next.cursor })).map(({ name }) => name)).toEqual(
      ['d'],
    )
    expect(Object.keys((await $.Contact.find({}, { fields: ['name'] }))[0]!).sort()).toEqual(['$id', '$type', 'name'])
  })

  test('all entities come one by one, page after page', async () => {
    const $ = fresh()
    await $.Contact.createMany(Array.from({ length: 230 }, (_, index) => ({ name: `c${index}`, leadScore: index })))
    const seen: number[] = []

    for await (const { leadScore } of $.Contact.all({}, { sort: { leadScore: 1 } })) seen.push(leadScore!)

    expect(seen).toEqual(Array.from({ length: 230 }, (_, index) => index))
  })

  test('a filter too long for an address finds all the same', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada' })
    const filter = { $id: { $in: [ada.$id, ...Array.from({ length: 400 }, (_, n) => `contact_${n}`.padEnd(24, '0'))] } }

    expect((await $.Contact.find(filter)).map(({ name }) => name)).toEqual(['Ada'])
    expect(await $.Contact.count(filter)).toBe(1)
  })

  test('groups are counted and measured', async () => {
    const $ = fresh()
    for (const [value, stage] of [
      [1, 'Proposal'],
      [2, 'Proposal'],
      [4, 'Negotiation'],
    ] as const) {
      await $.Deal.create({ name: 'x', value, stage })
    }

    expect(await $.Deal.aggregate({ group: ['stage'], sum: ['value'] }, { value: { $gt: 1 } })).toEqual([
      { stage: expect.any(String), count: 1, sum: { value: expect.any(Number) } },
      { stage: expect.any(String), count: 1, sum: { value: expect.any(Number) } },
    ])
    expect((await $.Deal.aggregate({ group: ['stage'], sum: ['value'] }))[0]).toEqual({
      stage: 'Proposal',
      count: 2,
      sum: { value: 3 },
    })
  })

  verifies(['client.tenant', 'client.context'], 'a client works on the one tenant it was made for', async () => {
    const [one, two] = [fresh(), fresh()]
    const ada = await one.Contact.create({ name: 'Ada' })

    expect(one.$context).toBe(`${host.url}/~client${tenants - 1}`)
    expect(ada.$context).toBe(one.$context)
    expect(await two.Contact.count()).toBe(0)
  })
})

describe('writing', () => {
  test('every verb is a method, and the past stays', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada' })
    await nextMillisecond()
    const qualified = await $.Contact.qualify(ada.$id)
    await $.Contact.update(ada.$id, { title: 'Countess' }, { ifVersion: 2 })

    expect(qualified.stage).toBe('Qualified')
    expect((await $.Contact.history(ada.$id)).map(({ verb }) => verb)).toEqual(['update', 'qualify', 'create'])
    expect((await $.Contact.diff(ada.$id, 1, 2)).changes).toContainEqual({
      field: 'stage',
      from: 'Lead',
      to: 'Qualified',
    })
    const back = await $.Contact.rollback(ada.$id, { asOf: new Date(ada.$createdAt) })
    expect([back.stage, back.title ?? null]).toEqual(['Lead', null])
    await $.Contact.delete(ada.$id)
    expect(await $.Contact.get(ada.$id)).toBeNull()
    expect((await $.Contact.restore(ada.$id)).name).toBe('Ada')
  })

  test('asOf takes the seq of an event, and the empty id names no entity', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada' })
    const [created] = await $.events.list({ type: 'Contact.created' })
    await $.Contact.update(ada.$id, { name: 'Ada Lovelace' })
    const asOf = created!.seq

    expect((await $.Contact.get(ada.$id, { asOf }))?.name).toBe('Ada')
    expect((await $.Contact.find({}, { asOf })).map(({ name }) => name)).toEqual(['Ada'])
    expect(await $.Contact.count({ name: 'Ada' }, { asOf })).toBe(1)
    expect((await $.Contact.rollback(ada.$id, { asOf })).name).toBe('Ada')
    expect(await $.Contact.get('')).toBeNull()
  })

  test('a refusal is a Problem with its code and all it concerns', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada' })

    const wrong = await $.Contact.create({ name: 7 } as never).catch((reason: unknown) => reason as Problem)
    const late = await $.Contact.update(ada.$id, { title: 'x' }, { ifVersion: 9 }).catch((reason: Problem) => reason)

    expect(wrong).toBeInstanceOf(Problem)
    expect(wrong).toMatchObject({ code: 'validation_error', about: { status: 422, field: 'name', type: 'Contact' } })
    expect(late).toMatchObject({ code: 'version_mismatch' })
  })

  test('one idempotency key is one entity', async () => {
    const $ = fresh()
    const twice = [1, 2].map(() => $.Contact.create({ name: 'Ada' }, { idempotencyKey: 'k' }))
    const [a, b] = await Promise.all(twice)

    expect(a!.$id).toBe(b!.$id)
    expect(await $.Contact.count()).toBe(1)
  })

  test('many are created together, and refused ones are listed by their index', async () => {
    const $ = fresh()
    const drafts = Array.from({ length: 150 }, (_, index) => ({ name: `c${index}`, email: `${index % 149}@x.org` }))

    expect(await $.Contact.createMany(drafts)).toEqual({
      created: 149,
      rejected: [{ row: 149, error: expect.any(String) }],
    })
  })

  test('more than a thousand are imported', async () => {
    const $ = fresh()
    const drafts = Array.from({ length: 1_200 }, (_, index) => ({ name: `c${index}`, email: `${index % 1_199}@x.org` }))

    expect(await $.Contact.createMany(drafts)).toEqual({
      created: 1_199,
      rejected: [{ row: 1_199, error: expect.any(String) }],
    })
  })

  test('more than ten thousand are imported in parts, and may refer to each other', async () => {
    const $ = fresh()
    const drafts = Array.from({ length: 10_001 }, (_, i) => ({ $id: `contact_n${i}`, name: `c${i}` }))
    const [first, ...others] = drafts

    const made = await $.Contact.createMany([{ ...first!, manager: 'contact_n10000' }, ...others, others[0]!])

    expect(made).toMatchObject({ created: 10_001, rejected: [{ row: 10_001 }] })
    expect(await $.Contact.get('contact_n0')).toMatchObject({ manager: 'contact_n10000' })
  })

  test('a type of the tenant is used like any other', async () => {
    const Boat = noun('Boat', { $domain: 'custom', name: 'string!', launch: { event: 'launched' } })
    const $ = tildebase({ tenant: `client${++tenants}`, apiKey: ROOT, baseUrl: host.url, nouns: { Boat } })
    await $.request('PUT', '/schema/Boat', { body: Boat.notation })

    const beagle = await $.Boat.create({ name: 'Beagle' })

    expect((await $.Boat.launch(beagle.$id)).$version).toBe(2)
    expect((await $.schema('Boat')).name).toBe('Boat')
  })
})

describe('batches', () => {
  test('a batch refers to what its own steps create', async () => {
    const $ = fresh()
    const steps: any = {}

    const done = await $.batch((b) => {
      steps.ada = b.Contact.create({ name: 'Ada' })
      steps.deal = b.Deal.create({ name: 'Engine', contact: steps.ada.$id })
      steps.qualified = b.Contact.qualify(steps.ada.$id)
    })

    const ada: any = done.of(steps.ada)
    expect((done.of(steps.deal) as any).contact).toBe(ada.$id)
    expect((done.of(steps.qualified) as any).stage).toBe('Qualified')
    expect(done.correlation).toEqual(expect.any(String))
  })

  test('what failed is thrown when it is asked for, or at once when the batch is atomic', async () => {
    const $ = fresh()
    let bad: any
    const build = (b: any) => {
      b.Contact.create({ name: 'Ada' })
      bad = b.Contact.create({})
    }

    const done = await $.batch(build)

    expect(() => done.of(bad)).toThrow(Problem)
    await expect($.batch(build, { atomic: true })).rejects.toMatchObject({ code: 'batch_failed' })
    expect(await $.Contact.count()).toBe(1)
  })
})

describe('the tenant as a whole', () => {
  test('it returns its state and the rights of the key', async () => {
    const $ = fresh()
    await $.Contact.create({ name: 'Ada' })

    expect(await $.status()).toMatchObject({
      entities: { Contact: 1 },
      log: { seq: 1 },
      key: { scopes: ['admin:all'] },
    })
    expect((await $.metrics()).pipeline.totalDeals).toBe(0)
    expect((await $.schema()).types.length).toBeGreaterThan(30)
  })

  test('code runs next to the data, also without a trace', async () => {
    const $ = fresh()
    const code = "await $.Contact.create({ name: 'Ada' }); console.log('hi'); await $.Contact.count()"

    const dry = await $.do(code, { dryRun: true })
    const done = await $.do(code)

    expect(dry).toMatchObject({ result: 1, logs: ['hi'], events: [{ type: 'Contact.created' }] })
    expect(done).toMatchObject({ result: 1, correlation: expect.any(String) })
    expect(await $.Contact.count()).toBe(1)
  })
})

describe('events', () => {
  test('the change stream is listed from a cursor', async () => {
    const $ = fresh()
    const ada = await $.Contact.create({ name: 'Ada' })
    const first = await $.events.list()
    await $.Contact.qualify(ada.$id)

    expect(first.map(({ type }) => type)).toEqual(['Contact.created'])
    expect((await $.events.list({ cursor: first.cursor })).map(({ type }) => type)).toEqual(['Contact.qualified'])
    expect(await $.events.list({ type: 'Deal' })).toEqual([])
  })

  test('events arrive as they happen, from where the reader stopped', async () => {
    const $ = fresh()
    await $.Contact.create({ name: 'a' })
    const stop = new AbortController()
    const names: unknown[] = []

    for await (const event of $.events.stream({ type: 'Contact', lastEventId: 0, signal: stop.signal })) {
      names.push(event.data.name)
      if (names.length === 1) await $.Contact.create({ name: 'b' })
      if (names.length === 2) stop.abort()
    }

    expect(names).toEqual(['a', 'b'])
  })

  test('a key that is not valid ends the stream with its problem', async () => {
    const $ = tildebase({ tenant: 'client1', apiKey: `tb_${'x'.repeat(40)}~client1`, baseUrl: host.url })

    await expect($.events.stream().next()).rejects.toMatchObject({ code: 'unauthorized' })
  })
})
