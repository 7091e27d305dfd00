import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'

let app: TestApp
let send: ReturnType<TestApp['as']>
let organization: string
const contacts: string[] = []

const at = (path: string) => `/~few/${path}`

/** An agent that may get two entities per answer, in a tenant with an Organization of four Contacts. */
beforeAll(async () => {
  app = await testApp({})
  organization = (await app.request('POST', at('Organization'), { name: 'Initech' })).body.$id
  for (const n of [1, 2, 3, 4]) {
    const { body } = await app.request('POST', at('Contact'), { name: `contact ${n}`, organization })
    contacts.push(body.$id)
  }
  for (const n of [1, 2, 3]) await app.request('PUT', at(`Contact/${contacts[0]}`), { title: `title ${n}` })
  const boss = await person(app, 'few', { email: 'boss@example.org', role: 'Admin' })
  const { access } = await connect(app, boss, 'few', { asked: { scope: 'admin:all' }, chosen: { rowsPerAnswer: '2' } })
  send = app.as(access)
})
afterAll(() => app.stop())

const namesIn = (text: string) => new Set(text.match(/contact \d/g)).size

test.each([
  ['embedded in one entity', 'Organization/:id?include=contacts', 422],
  ['in groups of an aggregation', 'Contact/aggregate?group=name', 422],
  ['in a live list', 'Contact', 403],
  ['in the live stream', 'events?type=Contact&cursor=0', 403],
])('an agent with a limit of entities does not get more of them %s', async (place, path, expected) => {
  const headers = place.includes('live') ? { accept: 'text/event-stream' } : {}
  const { status, text } = await send('GET', at(path.replace(':id', organization)), undefined, headers)

  expect([status, namesIn(text)]).toEqual([expected, 0])
})

test('what fits into the limit is answered', async () => {
  const one = await send('GET', at(`Contact/${contacts[0]}?include=organization`))
  const groups = await send('GET', at('Contact/aggregate?group=stage'))

  expect([one.status, one.body.organization.name]).toEqual([200, 'Initech'])
  expect([groups.status, groups.body.total]).toEqual([200, 4])
})

test('the versions of an entity come page by page', async () => {
  const { body } = await send('GET', at(`Contact/${contacts[0]}/history?limit=50`))

  expect([body.results.length, body.hasMore]).toEqual([2, true])
})

test('a batch is one answer, and does not write for an entity that it cannot give', async () => {
  const reads = contacts.map((id) => ({ id, method: 'GET', path: `Contact/${id}` }))
  const writes = contacts.map((id) => ({ id, method: 'PUT', path: `Contact/${id}`, body: { phone: '1' } }))

  const read = await send('POST', at('batch'), { operations: reads })
  const written = await send('POST', at('batch'), { operations: writes })

  const statuses = ({ body }: any) => body.results.map(({ status }: any) => status)
  expect([statuses(read), namesIn(read.text)]).toEqual([[200, 200, 422, 422], 2])
  expect([statuses(written), namesIn(written.text)]).toEqual([[200, 200, 422, 422], 2])
  expect((await app.request('GET', at('Contact/count?phone=1'))).body.count).toBe(2)
})
