import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
})
afterAll(() => app.stop())

test('a key with a row filter imports no past, and so changes no rows that are hidden from it', async () => {
  const at = (path: string) => `/~narrow-past/${path}`
  const create = { type: 'Contact', verb: 'create', source: 'a:1', timestamp: '2024-01-01T00:00:00Z' }
  await app.request('POST', at('import/history'), [{ ...create, data: { name: 'Hugo', title: 'theirs' } }])
  const [hidden] = (await app.request('GET', at('Contact'))).body.results
  const send = app.as(await app.key('narrow-past', 'admin:all', { filter: { Contact: { title: 'mine' } } }))
  const rows = [
    { type: 'Contact', verb: 'update', id: hidden.$id, data: { title: 'mine' } },
    { type: 'Contact', verb: 'delete', source: 'a:1' },
    { type: 'Contact', verb: 'create', source: 'a:1', data: { name: 'Eve', title: 'mine' } },
  ]

  for (const row of rows) {
    const { status, text } = await send('POST', at('import/history'), [{ ...row, timestamp: '2024-02-01T00:00:00Z' }])
    expect(status, text).toBe(403)
    expect(text).not.toContain(hidden.$id)
  }

  expect((await app.request('GET', at(`Contact/${hidden.$id}`))).body).toMatchObject({ $version: 1, title: 'theirs' })
})

test('a query is not explained to a key with a row filter', async () => {
  await app.request('POST', '/~explained/Contact', { name: 'Hugo', title: 'theirs' })
  const send = app.as(await app.key('explained', 'admin:all', { filter: { Contact: { title: 'mine' } } }))

  expect((await send('GET', '/~explained/Contact?explain=true')).status).toBe(403)
  expect((await app.request('GET', '/~explained/Contact?explain=true')).status).toBe(200)
})

test('an agent imports no past in the name of a person', async () => {
  const admin = await person(app, 'names', { email: 'admin@example.org', role: 'Admin' })
  const { access } = await connect(app, admin, 'names', { asked: { scope: 'admin:all' } })
  const send = app.as(access)
  const at = (actor: string, source: string) => ({
    type: 'Contact',
    verb: 'create',
    source,
    timestamp: '2024-01-01T00:00:00Z',
    data: { name: 'Ada' },
    actor,
  })

  const { body } = await send('POST', '/~names/import/history', [
    ...[admin.user.$id, 'operator', 'system', 'apiKey_1', 'workflow:1'].map((actor, n) => at(actor, `a:${n}`)),
    at('hubspot:user:7', 'b:1'),
  ])

  expect(body).toMatchObject({ imported: 1, errors: 5 })
  const { results } = (await app.request('GET', '/~names/events?type=Contact')).body
  expect(results.map(({ actor }: any) => actor)).toEqual(['hubspot:user:7'])
})
