import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
  for (const name of ['Ada', 'Bob', 'Cleo']) await host.request('POST', '/~acme/Contact', { name })
})
afterAll(() => host.stop())

const seqs = (body: any): number[] => body.results.map((event: any) => event.seq)

test('a page begins after the cursor, also when it asks for all since a time before', async () => {
  const all = await host.request('GET', '/~acme/events?since=2020-01-01T00:00:00Z')
  const later = await host.request('GET', '/~acme/events?since=2020-01-01T00:00:00Z&cursor=2')
  const none = await host.request('GET', '/~acme/events?since=now&cursor=1')

  expect(seqs(all.body)).toEqual([1, 2, 3])
  expect(seqs(later.body)).toEqual([3])
  expect(seqs(none.body)).toEqual([])
})

test('tracked events are for keys that may read them, whichever way they are asked for', async () => {
  const key = host.as(await host.key('acme', 'read:crm'))
  const paths = ['/events?name=signup', '/events/count', '/Event/count', '/events/event_x', '/Event/event_x']

  const statuses = await Promise.all(paths.map(async (path) => (await key('GET', `/~acme${path}`)).status))

  expect(statuses).toEqual(paths.map(() => 403))
  expect((await key('GET', '/~acme/events')).status).toBe(200)
})

test('a page that is held back ends with its key', async () => {
  const { body: made } = await host.request('POST', '/~held/api-keys', { name: 'k', scopes: 'read:crm' })
  const { body } = await host.request('GET', '/~held/events')
  const held = host.as(made.secret)('GET', `/~held/events?cursor=${body.cursor}&wait=60`)
  // It is in progress once another question of the same key has been answered.
  await host.as(made.secret)('GET', '/~held/events')

  await host.request('POST', `/~held/api-keys/${made.$id}/revoke`)

  expect((await held).status).toBe(401)
})

test('a live list that a key may not read is refused before it begins', async () => {
  const key = host.as(await host.key('acme', 'read:Deal'))
  const paths = ['/Contact', '/Contact?sort=name', '/Event', '/events?subject=x']

  const live = { accept: 'text/event-stream' }
  const replies = await Promise.all(paths.map((path) => key('GET', `/~acme${path}`, undefined, live)))

  expect(replies.map(({ status, body }) => [status, body?.error])).toEqual(replies.map(() => [403, 'forbidden']))
})

test.each([{}, { accept: 'text/event-stream' }])(
  'a stream of types of which a key may read none is refused before it begins, with %j',
  async (headers) => {
    const key = host.as(await host.key('acme', 'read:Deal'))
    const statusOf = async (type: string) =>
      (await key('GET', `/~acme/events?type=${type}&limit=1`, undefined, headers)).status
    // A key that may read deals may read their comments, but not the events of comments.
    const refused = [
      'Contact',
      'Contact.created',
      'contact.*',
      'Contact,Ticket.created',
      'ApiKey.*',
      'Event.created',
      'Comment',
    ]

    const statuses = await Promise.all(refused.map(statusOf))

    expect(statuses).toEqual(refused.map(() => 403))
  },
)

test.each([
  'application/json, text/event-stream;q=0.5',
  'application/json;q=0.5, text/event-stream; q=0.1',
  '*/*, text/event-stream;q=0',
])('a list and the change stream are JSON with Accept: %s', async (accept) => {
  for (const path of ['/~acme/Contact', '/~acme/events']) {
    const { headers } = await host.request('GET', path, undefined, { accept })

    expect(headers.get('content-type')).toContain('application/json')
  }
})

test('a stream leaves out the types that a key may not read next to others that it may', async () => {
  const key = host.as(await host.key('acme', 'read:Deal'))
  const paths = ['', '?type=*', '?type=*.created', '?type=Contact,Deal', '?type=Deal.*', '?type=Later.created']

  const replies = await Promise.all(paths.map((path) => key('GET', `/~acme/events${path}`)))

  expect(replies.map(({ status, body }) => [status, body.results])).toEqual(paths.map(() => [200, []]))
})
