import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
let ada: string
let eve: string
let byAda: string
let byEve: string
let byNone: string
beforeAll(async () => {
  app = await testApp()
  const create = async (type: string, data: object) => {
    const { status, body } = await app.request('POST', `/~acme/${type}`, data)
    expect([status, body.message]).toEqual([201, undefined])
    return body.$id
  }
  const organization = await create('Organization', { name: 'Babbage & Co' })
  ada = await create('User', { name: 'Ada', email: 'ada@example.org' })
  eve = await create('Contact', { name: 'Eve', title: 'Engineer', organization })
  byAda = await create('Deal', { name: 'One', owner: ada })
  byEve = await create('Deal', { name: 'Two', owner: eve })
  byNone = await create('Deal', { name: 'Three' })
})
afterAll(() => app.stop())

const found = async (filter: object) => {
  const query = new URLSearchParams({ filter: JSON.stringify(filter) })
  const { status, body } = await app.request('GET', `/~acme/Deal?${query}`)
  expect([status, body.message]).toEqual([200, undefined])
  return body.results.map(({ $id }: { $id: string }) => $id).toSorted()
}

describe('a relation to several types', () => {
  verifies('relation.targets', 'accepts an id of each, and refuses other types and ids that do not exist', async () => {
    const refused = await app.request('POST', '/~acme/Deal', { name: 'X', owner: byAda })
    const missing = await app.request('POST', '/~acme/Deal', { name: 'X', owner: 'user_0000000000000000' })

    expect(refused.status).toBe(422)
    expect([missing.status, missing.body.message]).toEqual([
      422,
      expect.stringContaining('there is no User or Contact user_0000000000000000'),
    ])
  })

  verifies(
    'relation.targets.include',
    'is embedded with the type of each entity, and further relations where they exist',
    async () => {
      const { body } = await app.request('GET', '/~acme/Deal?include=owner,owner.organization&sort=createdAt')

      expect(
        body.results.map(({ owner }: any) => owner && [owner.$type, owner.name, owner.organization?.name]),
      ).toEqual([['User', 'Ada', undefined], ['Contact', 'Eve', 'Babbage & Co'], null])
      const unknown = await app.request('GET', '/~acme/Deal?include=owner.nothing')
      expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_include'])
    },
  )

  verifies(
    'relation.targets.include',
    'is filtered by fields of each type that has them, in SQL and in memory',
    async () => {
      const all = [byAda, byEve, byNone].toSorted()

      expect(await found({ 'owner.name': 'Ada' })).toEqual([byAda])
      expect(await found({ 'owner.name': { $in: ['Ada', 'Eve'] } })).toEqual([byAda, byEve].toSorted())
      expect(await found({ 'owner.name': { $regex: '^E' } })).toEqual([byEve])
      expect(await found({ 'owner.title': 'Engineer' })).toEqual([byEve])
      expect(await found({ 'owner.name': { $ne: 'Ada' } })).toEqual([byEve, byNone].toSorted())
      expect(await found({ 'owner.name': null })).toEqual([byNone])
      expect(await found({ 'owner.name': { $exists: false } })).toEqual([byNone])
      expect(await found({ 'owner.name': { $exists: true } })).toEqual([byAda, byEve].toSorted())
      expect(await found({ 'owner.organization.name': 'Babbage & Co' })).toEqual([byEve])
      expect(await found({ owner: ada })).toEqual([byAda])
      expect(await found({ $or: [{ 'owner.name': 'Ada' }, { name: { $regex: 'Th|Tw' } }] })).toEqual(all)
      const plain = await app.request('GET', '/~acme/Deal?owner.name=Eve')
      expect(plain.body.results.map(({ $id }: any) => $id)).toEqual([byEve])
      const group = await app.request('GET', '/~acme/Deal/aggregate?group=owner.name')
      expect(group.status).not.toBe(500)
    },
  )

  test('shows the id of an entity of a type that the key may not read', async () => {
    const send = app.as(await app.key('acme', 'read:crm'))
    const { status, body } = await send('GET', '/~acme/Deal?include=owner&sort=createdAt')

    expect(status).toBe(200)
    expect(body.results.map(({ owner }: any) => owner?.name ?? owner)).toEqual([ada, 'Eve', null])
  })

  test('can be declared, and its types must exist', async () => {
    const declare = (owner: string) => app.request('PUT', '/~acme/schema/Parcel', { name: 'string!', owner })

    expect((await declare('-> User | Contact')).status).toBeLessThan(300)
    expect((await declare('-> User | Nobody')).body.message).toContain('Nobody')
    expect((await declare('-> User | User')).body.message).toContain('same type twice')
    const { body } = await app.request('GET', '/~acme/schema/Parcel')
    expect(JSON.stringify(body)).toContain('-> User | Contact')
  })
})

describe('a relation to any type', () => {
  test('takes the id of any entity, embeds it, and is filtered by fields that types declare', async () => {
    const comment = async (about: string) => app.request('POST', '/~acme/Comment', { body: 'Hm', about })
    const onDeal = await comment(byAda)
    const onContact = await comment(eve)

    expect([onDeal.status, onContact.status]).toEqual([201, 201])
    expect((await comment('deal_0000000000000000')).status).toBe(422)
    expect((await comment('nothing_0000000000000000')).status).toBe(422)
    const { body } = await app.request('GET', '/~acme/Comment?include=about&sort=createdAt')
    expect(body.results.map(({ about }: any) => [about.$type, about.name])).toEqual([
      ['Deal', 'One'],
      ['Contact', 'Eve'],
    ])
    const filtered = await app.request('GET', '/~acme/Comment?about.name=Eve')
    expect(filtered.body.results.map(({ $id }: any) => $id)).toEqual([onContact.body.$id])
    const own = await app.request('GET', `/~acme/Comment?about=${byAda}`)
    expect(own.body.results.map(({ $id }: any) => $id)).toEqual([onDeal.body.$id])
    expect(own.headers.get('x-tilde-warnings')).toBe(null)

    for (const [filter, expected] of [
      [{ 'about.$type': 'Contact' }, [onContact]],
      [{ 'about.$id': byAda }, [onDeal]],
      [{ 'about.$id': { $ne: byAda } }, [onContact]],
      [{ 'about.createdAt': { $gt: '1d ago' } }, [onDeal, onContact]],
      [{ 'about.$createdAt': null }, []],
    ] as const) {
      const path = `/~acme/Comment?sort=createdAt&filter=${encodeURIComponent(JSON.stringify(filter))}`
      const found = await app.request('GET', path)
      const past = await app.request('GET', `${path}&asOf=now`)
      const ids = expected.map((one) => one.body.$id)
      expect([filter, found.body.results?.map(({ $id }: any) => $id)]).toEqual([filter, ids])
      expect([filter, past.body.results?.map(({ $id }: any) => $id)]).toEqual([filter, ids])
    }
  })
})

describe('stages', () => {
  const act = (id: string, verb: string, args?: object) => app.request('POST', `/~acme/Deal/${id}/${verb}`, args)

  verifies('deal.forward', 'a deal advances forward only, and revert moves it back only', async () => {
    const { body } = await app.request('POST', '/~acme/Deal', { name: 'Four' })
    const id = body.$id

    expect((await act(id, 'revert', { stage: 'Prospecting' })).status).toBe(409)
    expect((await act(id, 'advance', { stage: 'Negotiation' })).body.stage).toBe('Negotiation')
    expect((await act(id, 'advance', { stage: 'Proposal' })).status).toBe(409)
    expect((await act(id, 'advance', { stage: 'Negotiation' })).status).toBe(409)
    expect((await act(id, 'revert', { stage: 'Won' })).status).toBe(409)
    expect((await act(id, 'revert')).status).toBe(422)
    expect((await act(id, 'revert', { stage: 'Qualification' })).body.stage).toBe('Qualification')
    expect((await act(id, 'advance')).body.stage).toBe('Proposal')
  })

  verifies('contact.assign', 'a contact is assigned to an owner', async () => {
    const { body } = await app.request('POST', `/~acme/Contact/${eve}/assign`, { assignee: ada })

    expect(body.owner).toBe(ada)
  })
})
