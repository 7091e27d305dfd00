import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Fake, type HubspotRecord, hubspotFake, startFake } from './fakes.ts'

let host: TestHost
let fake: Fake
const contacts: HubspotRecord[] = []

const record = (id: string, name: string, at: string): HubspotRecord => ({
  id,
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: at,
  propertiesWithHistory: {
    firstname: [{ value: name, timestamp: at }],
    email: [{ value: `${id}@x.y`, timestamp: at }],
  },
})

beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  contacts.push(record('1', 'Ada', '2025-01-01T00:00:00.000Z'), record('2', 'Bob', '2025-01-02T00:00:00.000Z'))
  fake = await startFake(hubspotFake({ contacts, companies: [], deals: [], tickets: [] }), () => null)
})
afterAll(async () => {
  await host.stop()
  await fake.stop()
})

const create = async (tenant: string, more: object = {}) =>
  (
    await host.request('POST', `/~${tenant}/Integration`, {
      name: 'Hub',
      provider: 'hubspot',
      apiBaseUrl: fake.url,
      ...more,
    })
  ).body.$id
const read = async (path: string) => (await host.request('GET', path)).body
const post = (path: string, body?: object) => host.request('POST', path, body ?? {})

/** Reads an integration until it has had so many events of a name. */
async function ended(tenant: string, name: string, count = 1): Promise<any[]> {
  for (let i = 0; i < 200; i++) {
    const { results } = await read(`/~${tenant}/events?type=Integration.${name}`)
    if (results.length >= count) return results
    await new Promise((done) => setTimeout(done, 50))
  }
  throw new Error(`No Integration.${name} came.`)
}

describe('an integration', () => {
  verifies(
    ['integration.connect', 'integration.sync'],
    'checks and hides its credentials, and fetches what changed since its last run',
    async () => {
      const id = await create('a')

      const wrong = await post(`/~a/Integration/${id}/connect`, { credentials: { token: 'no' } })
      const early = await post(`/~a/Integration/${id}/sync`)
      const connected = await post(`/~a/integrations/${id}/connect`, { credentials: { token: 'hub-token' } })
      const started = await post(`/~a/Integration/${id}/sync`)
      const [first] = await ended('a', 'synced')

      expect(wrong.status).toBe(422)
      expect(early.status).toBe(409)
      expect(connected).toMatchObject({ status: 200, body: { status: 'Connected' } })
      expect(started.status).toBe(202)
      expect(first.args).toEqual({ created: 2, updated: 0, unchanged: 0, failed: 0 })
      expect(await read(`/~a/Integration/${id}`)).toMatchObject({ status: 'Synced' })
      expect((await read('/~a/Contact?$source=hubspot:contacts:1')).results).toMatchObject([
        { name: 'Ada', email: '1@x.y' },
      ])
      expect((await read('/~a/Contact?$source=hubspot:contacts:1')).results[0].$createdBy).toBe(`integration:${id}`)

      const [bob] = (await read('/~a/Contact?name=Bob')).results
      await host.request('PUT', `/~a/Contact/${bob.$id}`, { name: 'Robert' })
      const soon = new Date(Date.now() + 60_000).toISOString()
      contacts[0] = record('1', 'Ada King', soon)
      contacts[1] = {
        ...record('2', 'Bobby', '2025-01-02T00:00:00.000Z'),
        updatedAt: new Date(Date.now() - 5_000).toISOString(),
      }
      contacts.push(record('3', 'Eve', soon))
      await post(`/~a/Integration/${id}/sync`)
      const [, second] = await ended('a', 'synced', 2)

      expect(second.args).toMatchObject({ created: 1, updated: 1, failed: 0 })
      expect((await read('/~a/Contact?$source=hubspot:contacts:1')).results[0].name).toBe('Ada King')
      expect((await read(`/~a/Contact/${bob.$id}`)).name).toBe('Robert')
      const everything = [
        await read('/~a/events?limit=1000'),
        await read(`/~a/Integration/${id}`),
        await read(`/~a/Integration/${id}/history`),
      ]
      expect(JSON.stringify(everything)).not.toContain('hub-token')
      expect(host.stored()).not.toContain('hub-token')
    },
    60_000,
  )

  verifies(
    ['integration.failed', 'integration.disconnect'],
    'says why a run failed, and forgets its credentials when it is disconnected',
    async () => {
      const id = await create('b')
      await post(`/~b/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      const mapping = { nothing: { type: 'Contact', fields: { name: 'name' } } }
      const narrow = host.as(await host.key('b', 'write:platform'))
      await narrow('PUT', `/~b/Integration/${id}`, { mapping })
      const changed = await post(`/~b/Integration/${id}/sync`)
      await post(`/~b/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      await post(`/~b/Integration/${id}/sync`)
      const failed = (await ended('b', 'failed')).at(-1)
      const after = await read(`/~b/Integration/${id}`)
      await host.request('PUT', `/~b/Integration/${id}`, { apiBaseUrl: `${fake.url}/other` })
      const moved = await post(`/~b/Integration/${id}/sync`)
      const gone = await post(`/~b/Integration/${id}/disconnect`)
      const late = await post(`/~b/Integration/${id}/sync`)

      expect(changed.status).toBe(409)
      expect(failed.args.reason).toContain('404')
      expect(after).toMatchObject({ status: 'Connected' })
      expect(after.error).toContain('404')
      expect(moved.status).toBe(409)
      expect(gone.body.status).toBe('Disconnected')
      expect(late.status).toBe(409)
    },
    60_000,
  )

  verifies(
    ['integration.preview', 'integration.mapping'],
    'shows records as a mapping would write them, and stays connected with that mapping',
    async () => {
      const id = await create('e')
      const mapping = { contacts: { type: 'Contact', fields: { firstname: 'name', email: 'phone' } } }
      const early = await post(`/~e/Integration/${id}/preview`)
      await post(`/~e/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      const narrow = host.as(await host.key('e', 'write:platform'))

      const standard = await post(`/~e/Integration/${id}/preview`)
      const tried = await post(`/~e/Integration/${id}/preview`, { mapping })
      const refused = await narrow('POST', `/~e/Integration/${id}/preview`, { mapping })
      const wrong = await Promise.all(
        [
          5,
          {},
          { '../owners': mapping.contacts },
          { contacts: null },
          { contacts: { type: 'Nothing', fields: 1 } },
        ].map((one) => post(`/~e/Integration/${id}/preview`, { mapping: one })),
      )
      const stored = await host.request('PUT', `/~e/Integration/${id}`, { mapping: { contacts: { type: 'ApiKey' } } })
      const before = (await read('/~e/Contact')).total
      await host.request('PUT', `/~e/Integration/${id}`, { mapping })
      const started = await post(`/~e/Integration/${id}/sync`)
      await ended('e', 'synced')

      expect(early.status).toBe(409)
      expect(Object.keys(standard.body.default)).toEqual(['companies', 'contacts', 'deals', 'tickets'])
      expect(standard.body.objects[1].records[0]).toMatchObject({ data: { email: '1@x.y' }, issues: [] })
      expect(tried.body.objects).toMatchObject([
        {
          object: 'contacts',
          type: 'Contact',
          records: [{ source: 'hubspot:contacts:1', values: { email: '1@x.y' }, data: { phone: '1@x.y' } }, {}, {}],
        },
      ])
      expect(refused.status).toBe(403)
      expect(wrong.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
      expect(stored.status).toBe(422)
      expect(before).toBe(0)
      expect(started.status).toBe(202)
      expect((await read('/~e/Contact?$source=hubspot:contacts:1')).results).toMatchObject([{ phone: '1@x.y' }])
    },
  )

  verifies(
    ['integration.watch', 'integration.stop'],
    'shows how far a run is, and stops it when it is asked to or disconnected',
    async () => {
      const many = Array.from({ length: 60 }, (_, i) => record(String(i + 1), `N${i}`, '2025-01-01T00:00:00.000Z'))
      // Answers the first ten pages, then asks for pauses.
      let isSlow = true
      const slow = await startFake(hubspotFake({ contacts: many }), (_, { searchParams }) =>
        isSlow && Number(searchParams.get('after')) >= 30 ? 'limit' : null,
      )
      const mapping = { contacts: { type: 'Contact', fields: { firstname: 'name' } } }
      const id = await create('f', { apiBaseUrl: slow.url, mapping })
      await post(`/~f/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      const idle = await read(`/~f/Integration/${id}/run`)
      const begun = async () => {
        await post(`/~f/Integration/${id}/sync`)
        for (let i = 0; i < 200; i++) {
          const run = await read(`/~f/Integration/${id}/run`)
          if (run.created + run.unchanged >= 25) return run
          await new Promise((done) => setTimeout(done, 20))
        }
        throw new Error('The run does not begin.')
      }

      const run = await begun()
      const stopped = await post(`/~f/Integration/${id}/stop`)
      const [failed] = await ended('f', 'failed')
      const again = await post(`/~f/Integration/${id}/stop`)
      const second = await begun()
      const gone = await post(`/~f/Integration/${id}/disconnect`)
      isSlow = false
      while ((await read(`/~f/Integration/${id}/run`)).running) await new Promise((done) => setTimeout(done, 20))
      await slow.stop()

      expect(idle).toEqual({ running: false })
      expect(run).toMatchObject({ running: true, object: 'contacts', created: 25, failed: 0 })
      expect(stopped.status).toBe(202)
      expect(failed.args).toMatchObject({ reason: 'The run was stopped.', created: 25 })
      expect(again).toMatchObject({ status: 200, body: { running: false } })
      expect(second).toMatchObject({ created: 0, unchanged: 25 })
      expect(gone.body.status).toBe('Disconnected')
      expect(await read(`/~f/events?type=Integration.synced`)).toMatchObject({ results: [] })
      expect((await read('/~f/Contact')).total).toBe(25)
    },
  )

  test('with an address that is not a URL is not connected', async () => {
    const id = await create('n', { apiBaseUrl: 'https://127.0.0.1%00.example.com' })

    const { status, body } = await post(`/~n/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })

    expect([status, body.field]).toEqual([422, 'apiBaseUrl'])
  })

  verifies('integration.plain', 'of a provider without a connector changes its status only, and says so', async () => {
    const id = await create('c', { provider: 'pigeon' })

    const connected = await post(`/~c/Integration/${id}/connect`, { credentials: { token: 'secret-token' } })
    const synced = await post(`/~c/Integration/${id}/sync`)
    const stored = await host.request('PUT', `/~c/Integration/${id}`, { credentials: { token: 'secret-token' } })

    expect(connected).toMatchObject({ status: 200, body: { status: 'Connected' } })
    expect(JSON.parse(connected.headers.get('x-tilde-warnings')!)).toMatchObject([{ warning: 'not_configured' }])
    expect(synced).toMatchObject({ status: 200, body: { status: 'Synced' } })
    expect(JSON.parse(synced.headers.get('x-tilde-warnings')!)).toMatchObject([{ warning: 'not_configured' }])
    expect(stored.status).toBe(422)
    expect(JSON.stringify(await read('/~c/events?limit=100'))).not.toContain('secret-token')
  })

  verifies(
    'integration.schedule',
    'runs by its schedule, and as far as its author may write',
    async () => {
      const id = await create('d', { schedule: '* * * * * *' })
      const narrow = host.as(await host.key('d', 'write:platform'))

      const refused = await narrow('POST', `/~d/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      const connected = await post(`/~d/Integration/${id}/connect`, { credentials: { token: 'hub-token' } })
      const runs = await ended('d', 'synced', 2)
      await post(`/~d/Integration/${id}/disconnect`)

      expect(refused.status).toBe(403)
      expect(connected.status).toBe(200)
      expect(runs.length).toBeGreaterThanOrEqual(2)
      expect((await host.request('PUT', `/~d/Integration/${id}`, { schedule: 'never' })).status).toBe(422)
    },
    60_000,
  )
})
