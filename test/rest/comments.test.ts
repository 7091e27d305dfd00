import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

const create = async (tenant: string, type: string, data: object, as = app.request) => {
  const reply = await as('POST', `/~${tenant}/${type}`, data)
  expect(reply.status, reply.text).toBe(201)
  return reply.body.$id as string
}

verifies(
  'comment.about',
  'a key reads and writes the comments about entities that it may read, and no others',
  async () => {
    const [contact, deal] = [
      await create('rights', 'Contact', { name: 'Ada' }),
      await create('rights', 'Deal', { name: 'd' }),
    ]
    const issue = await create('rights', 'Issue', { title: 'i' })
    const ids = [
      await create('rights', 'Comment', { body: 'on a contact', about: contact }),
      await create('rights', 'Comment', { body: 'on a deal', about: deal }),
      await create('rights', 'Comment', { body: 'on an issue', issue }),
      await create('rights', 'Comment', { body: 'on nothing' }),
    ]
    const cases: [scopes: string, seen: number[], writes: (readonly number[])[]][] = [
      ['read:Contact', [0], [[0]]],
      ['read:crm', [0, 1], [[0], [1]]],
      ['read:Deal', [1], [[1]]],
      ['read:Metric', [], []],
      ['read:Comment', [0, 1, 2, 3], []],
      // All of them can be read. Only those about an entity can be written.
      ['read:all', [0, 1, 2, 3], [[0], [1]]],
      ['write:Comment', [0, 1, 2, 3], [[0], [1], [2], [3]]],
    ]
    for (const [scopes, seen, writes] of cases) {
      const as = app.as(await app.key('rights', scopes))
      const listed = await as('GET', '/~rights/Comment?sort=$createdAt')
      expect(listed.status, scopes).toBe(200)

      expect(listed.body.results.map(({ $id }: { $id: string }) => ids.indexOf($id)).sort(), scopes).toEqual(seen)
      expect((await as('GET', '/~rights/Comment/count')).body.count, scopes).toBe(seen.length)
      const statuses = { get: [] as number[], history: [] as number[], patch: [] as number[] }
      for (const [i, id] of ids.entries()) {
        if ((await as('GET', `/~rights/Comment/${id}`)).status === 200) statuses.get.push(i)
        if ((await as('GET', `/~rights/Comment/${id}/history`)).status === 200) statuses.history.push(i)
        if ((await as('PATCH', `/~rights/Comment/${id}`, { body: `by ${scopes}` })).status === 200)
          statuses.patch.push(i)
      }
      expect(statuses, scopes).toEqual({ get: seen, history: seen, patch: writes.flat() })
      for (const [i, about] of [contact, deal, undefined].entries()) {
        const post = (id?: string) => as('POST', '/~rights/Comment', { body: 'new', ...(id && { about: id }) })
        const { status } = await post(about)
        const isAllowed = about === undefined ? scopes === 'write:Comment' : writes.flat().includes(i)
        // One that it does not see has the answer of one that does not exist.
        expect(status, `${scopes} ${i}`).toBe(isAllowed ? 201 : (await post(about && `${about}0`)).status)
      }
      const made = await app.request('GET', '/~rights/Comment?filter={"body":"new"}&limit=100')
      for (const { $id } of made.body.results) await app.request('DELETE', `/~rights/Comment/${$id}`)
    }
  },
)

verifies('comment.about', 'a narrowed key has the comments about the rows that it sees', async () => {
  const [mine, other] = [
    await create('rows', 'Contact', { name: 'mine', stage: 'Lead' }),
    await create('rows', 'Contact', { name: 'other', stage: 'Customer' }),
  ]
  const comment = await create('rows', 'Comment', { body: 'a', about: mine })
  const hidden = await create('rows', 'Comment', { body: 'b', about: other })
  const rows = { Contact: { $or: [{ stage: 'Lead' }, { name: 'x' }] } }
  const as = app.as(await app.key('rows', 'read:Contact', { filter: rows }))

  expect((await as('GET', '/~rows/Comment')).body.results.map(({ $id }: { $id: string }) => $id)).toEqual([comment])
  expect((await as('GET', `/~rows/Comment/${hidden}`)).status).toBe(404)
  expect((await as('PATCH', `/~rows/Comment/${hidden}`, { body: 'c' })).status).toBe(404)
  expect((await as('PATCH', `/~rows/Comment/${comment}`, { about: other })).status).not.toBe(200)
  expect((await as('POST', '/~rows/Comment', { body: 'c', about: mine })).status).toBe(201)
  expect((await as('POST', '/~rows/Comment', { body: 'c', about: other })).status).not.toBe(201)
})

verifies('comment.about', 'a row filter for comments means the fields of its own type, at any depth', async () => {
  const parent = await create('depths', 'Organization', { name: 'o', legalName: 'P' })
  const organization = await create('depths', 'Organization', { name: 'c', parent })
  // Contact declares neither field; Organization declares tier and address.
  const secret = { name: 'secret', tier: 'secret', region: 'south', address: { city: 'Oslo' }, organization }
  const open = { name: 'open', tier: 'open', region: 'north', address: { city: 'Rome' } }
  for (const contact of [secret, open]) {
    const about = await create('depths', 'Contact', contact)
    await create('depths', 'Comment', { body: contact.name, about })
  }
  const filters: [filter: object, seen: string[]][] = [
    [{ tier: { $ne: 'secret' } }, ['open']],
    [{ tier: { $not: { $regex: '^s' } } }, ['open']],
    [{ $or: [{ tier: 'open' }, { tier: null }] }, ['open']],
    [{ region: 'north' }, ['open']],
    [{ region: { $nin: ['south'] } }, ['open']],
    [{ 'address.city': { $ne: 'Oslo' } }, ['open']],
    [{ 'organization.parent.legalName': 'P' }, ['secret']],
    [{ 'organization.parent.legalName': { $ne: 'P' } }, ['open']],
  ]
  for (const [filter, seen] of filters) {
    const as = app.as(await app.key('depths', 'write:Contact', { filter: { Contact: filter } }))
    const { status, body } = await as('GET', '/~depths/Comment')
    expect([filter, status, body.results?.map((one: { body: string }) => one.body)]).toEqual([filter, 200, seen])
  }
})

verifies('comment.about', 'a narrowed key does not see the comments about a deleted entity', async () => {
  const about = await create('gone', 'Contact', { name: 'Ada', title: 'hidden' })
  await create('gone', 'Comment', { body: 'hidden', about })
  const as = app.as(await app.key('gone', 'read:Contact', { filter: { Contact: { title: { $ne: 'hidden' } } } }))
  await app.request('DELETE', `/~gone/Contact/${about}`)

  expect((await as('GET', '/~gone/Comment')).body).toMatchObject({ total: 0 })
})

verifies('comment.mention', '@name mentions the User, in a field and an event', async () => {
  const user = (name: string, email: string) => create('people', 'User', { name, email })
  const [ada, bob, eve] = [
    await user('Ada Lovelace', 'ada@example.com'),
    await user('Bob', 'bob@example.com'),
    await user('Bob Evans', 'evans@example.com'),
  ]
  const told = async (id: string) => {
    const { body } = await app.request('GET', `/~people/events?type=Comment.mentioned&limit=100`)
    return body.results
      .filter(({ entityId }: { entityId: string }) => entityId === id)
      .map(({ args }: { args: { users: string[] } }) => args.users)
  }
  const cases: [body: string, users: string[]][] = [
    ['Ask @Ada Lovelace about it', [ada]],
    ['@ada, please', [ada]],
    ['@ADA LOVELACE', [ada]],
    ['@ada@example.com!', [ada]],
    ['@Bob Evans and @Bob', [eve, bob]],
    ['@Bob, @Bob', [bob]],
    ['mail ada@example.com', []],
    ['@Nobody @', []],
    ['no one', []],
  ]
  for (const [body, users] of cases) {
    const id = await create('people', 'Comment', { body, mentions: [bob, ada] })
    const comment = (await app.request('GET', `/~people/Comment/${id}`)).body
    expect(comment.mentions ?? [], body).toEqual(users)
    expect(await told(id), body).toEqual(users.length > 0 ? [users] : [])
  }
  const id = await create('people', 'Comment', { body: 'to @Ada' })
  await app.request('PATCH', `/~people/Comment/${id}`, { body: 'to @Ada and @Bob' })
  await app.request('PATCH', `/~people/Comment/${id}`, { mentions: [] })
  await app.request('PATCH', `/~people/Comment/${id}`, { body: 'to @Ada' })

  expect(await told(id)).toEqual([[ada], [bob]])
  const { body } = await app.request('GET', `/~people/Comment/${id}?include=mentions`)
  expect(body.mentions).toMatchObject([{ name: 'Ada Lovelace' }])
})

test('a mention does not tell who there is to a key that may not read people', async () => {
  await create('hidden', 'User', { name: 'Ada', email: 'ada@example.com' })
  const as = app.as(await app.key('hidden', 'write:projects'))

  const id = await create('hidden', 'Comment', { body: '@Ada' }, as)

  expect((await as('GET', `/~hidden/Comment/${id}`)).body).not.toHaveProperty('mentions')
})

verifies('relation.people', 'people of relations are Users or Contacts', async () => {
  const people = {
    User: await create('both', 'User', { name: 'u', email: 'u@example.com' }),
    Contact: await create('both', 'Contact', { name: 'c' }),
  }
  const organization = await create('both', 'Organization', { name: 'o' })
  const { body: document } = await app.request('GET', '/~both/schema')
  const fields = (document.types ?? document.results ?? Object.values(document)) as { name: string; fields?: object }[]
  expect(fields.length).toBeGreaterThan(0)
  const relations: [type: string, data: object, field: string][] = [
    ['Deal', { name: 'd' }, 'owner'],
    ['Issue', { title: 'i' }, 'assignee'],
    ['Issue', { title: 'i' }, 'reporter'],
    ['Ticket', { subject: 't' }, 'assignee'],
    ['Comment', { body: 'b' }, 'author'],
    ['Project', { name: 'p' }, 'owner'],
  ]
  for (const [type, data, field] of relations) {
    for (const [target, id] of Object.entries(people)) {
      const made = await create('both', type, { ...data, [field]: id })
      const { body } = await app.request('GET', `/~both/${type}/${made}?include=${field}`)
      expect(body[field].$type, `${type}.${field}`).toBe(target)
    }
    const wrong = await app.request('POST', `/~both/${type}`, { ...data, [field]: organization })
    expect(wrong.status, `${type}.${field}`).toBe(422)
  }
})

verifies('ticket.start', 'tickets start and hold, issues start and finish', async () => {
  const walk = async (type: string, data: object, verbs: readonly string[]) => {
    const id = await create('walk', type, data)
    const states: string[] = []
    for (const verb of verbs) {
      const reply = await app.request('POST', `/~walk/${type}/${id}/${verb}`)
      states.push(reply.status === 200 ? reply.body.status : `${reply.status}`)
    }
    return states
  }

  expect(await walk('Ticket', { subject: 't' }, ['start', 'hold', 'start', 'start'])).toEqual([
    'InProgress',
    'Pending',
    'InProgress',
    '409',
  ])
  expect(await walk('Issue', { title: 'i' }, ['start', 'finish', 'start'])).toEqual(['InProgress', 'Done', '409'])
})

test('a filter through about reaches the types that the key may read, and no others', async () => {
  const contact = await create('through', 'Contact', { name: 'Ada' })
  const deal = await create('through', 'Deal', { name: 'Ada' })
  const ids = [
    await create('through', 'Comment', { body: 'on a contact', about: contact }),
    await create('through', 'Comment', { body: 'on a deal', about: deal }),
  ]
  const filter = encodeURIComponent(JSON.stringify({ 'about.name': 'Ada', 'about.createdAt': { $gt: '1d ago' } }))
  const own = { filter: { Contact: { createdAt: { $gt: '1d ago' } } } }

  for (const [scopes, more, expected] of [
    ['read:all', {}, [0, 1]],
    ['read:Comment,read:Contact', {}, [0]],
    ['read:Contact', own, [0]],
  ] as const) {
    const as = app.as(await app.key('through', scopes, more))
    for (const query of ['about.name=Ada', `filter=${filter}`, '']) {
      const { status, body } = await as('GET', `/~through/Comment?sort=$createdAt&${query}`)
      const seen = query === '' && scopes.includes('Comment') ? [0, 1] : expected
      expect([scopes, query, status]).toEqual([scopes, query, 200])
      expect(body.results.map(({ $id }: { $id: string }) => ids.indexOf($id))).toEqual(seen)
    }
    const code = `return await $.Comment.count({ 'about.name': 'Ada' })`
    expect((await as('POST', '/~through/do', { code })).body.result).toBe(expected.length)
  }
})
