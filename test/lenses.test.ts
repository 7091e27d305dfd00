import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from './host.ts'
import { verifies } from './verifies.ts'
import { wire } from './wire.ts'

let host: TestHost
let key: string
beforeAll(async () => {
  host = await testHost()
  key = await host.key('acme', 'admin:all')
  const organization = async (name: string, industry?: string) =>
    (await host.request('POST', '/~acme/Organization', { name, ...(industry && { industry }) })).body.$id
  const clinic = await organization('Clinic', 'Healthcare')
  const bank = await organization('Bank', 'finance')
  const plain = await organization('Plain')
  for (const [name, of] of [
    ['Carl', clinic],
    ['Bea', bank],
    ['Pat', plain],
  ]) {
    await host.request('POST', '/~acme/Contact', { name, organization: of })
  }
  await host.request('POST', '/~acme/Contact', { name: 'Nobody' })
  await host.request('POST', '/~acme/User', { name: 'Uma', email: 'uma@x.test' })
})
afterAll(() => host.stop())

/** A request to a host of ours, which its subdomain makes a lens. */
const at = (name: string, path: string, auth = ROOT) =>
  wire(host.url, path, { host: name, authorization: `Bearer ${auth}` })
const names = ({ body }: { body: any }) => body.results.map(({ name }: { name: string }) => name).toSorted()
const types = async (name: string, path = '/~acme/schema') =>
  new Set((await at(name, path)).body.types.map(({ domain }: { domain: string }) => domain))

describe('one listener', () => {
  verifies(
    [
      'address.listener.one',
      'address.db.host',
      'address.db.anyHost',
      'address.db.tenant',
      'address.db.mounted',
      'endpoint.db',
    ],
    'serves the database paths on every host, of the tenant that the key names or the path does',
    async () => {
      for (const name of ['db.localhost', 'localhost', 'crm.localhost', '127.0.0.1']) {
        expect((await at(name, '/export/Contact?format=json', key)).body).toHaveLength(4)
        expect((await at(name, '/manifest', key)).status).toBe(200)
        expect((await at(name, '/events?limit=1', key)).body.results).toHaveLength(1)
        expect((await at(name, '/~acme/export/Contact')).body).toHaveLength(4)
      }
    },
  )

  verifies(['address.suffix', 'address.suffix.default'], 'takes its base host from the settings', async () => {
    const suffixed = await testHost({}, { 'host-suffix': 'api.shop.test' })
    const read = (name: string) => wire(suffixed.url, '/~acme/schema', { host: name, authorization: `Bearer ${ROOT}` })
    await suffixed.request('POST', '/~acme/Contact', { name: 'x' })

    expect((await read('crm.api.shop.test')).body.total).toBeLessThan((await read('api.shop.test')).body.total)
    expect((await read('crm.localhost')).body.total).toBe((await read('api.shop.test')).body.total)
    await suffixed.stop()
  })
})

describe('a lens', () => {
  verifies(
    ['lens.sameData', 'lens.surface', 'lens.hidesNothing'],
    'hides no data: a type in the path answers on every host',
    async () => {
      for (const name of ['localhost', 'crm.localhost', 'billing.localhost', 'grow.localhost', 'db.localhost']) {
        expect((await at(name, '/~acme/Contact')).body.total).toBe(4)
        expect((await at(name, '/~acme/User')).body.total).toBe(1)
      }
    },
  )

  verifies(
    ['lens.schema', 'lens.domain', 'lens.journey', 'lens.dimensions'],
    'selects the types that schema shows',
    async () => {
      expect(await types('crm.localhost')).toEqual(new Set(['crm']))
      expect(await types('localhost', '/crm/~acme/schema')).toEqual(new Set(['crm']))
      expect(await types('crm.localhost', '/support/~acme/schema')).toEqual(new Set(['crm', 'support']))
      expect(await types('experiment.localhost')).toEqual(new Set(['experiments', 'analytics', 'marketing']))
      expect((await types('localhost')).size).toBe(11)
      expect((await types('healthcare.localhost')).size).toBe(11)
    },
  )

  verifies('lens.metrics', 'selects the sections of metrics', async () => {
    expect(Object.keys((await at('support.localhost', '/~acme/metrics')).body)).toEqual(['support', 'asOf'])
    expect(Object.keys((await at('localhost', '/crm/~acme/metrics')).body)).toEqual(['pipeline', 'asOf'])
  })

  verifies(
    ['lens.interchangeable', 'lens.industry.crm', 'lens.industry.field', 'lens.industry.organization'],
    'of an industry filters lists, counts and searches, as subdomain or as path segment',
    async () => {
      const one = await at('crm.localhost', '/healthcare/~acme/Contact')
      const other = await at('healthcare.localhost', '/crm/~acme/Contact')

      expect(names(one)).toEqual(['Carl'])
      const unlike = (body: any) => JSON.stringify(body).replaceAll(/"\$context":"[^"]*"/g, '')
      expect(unlike(other.body)).toBe(unlike(one.body))
      expect((await at('finance.localhost', '/~acme/Contact/count')).body.count).toBe(1)
      expect(names(await at('healthcare.localhost', '/~acme/Organization'))).toEqual(['Clinic'])
      const search = encodeURIComponent('{"$text":"bea"}')
      expect((await at('healthcare.localhost', `/~acme/Contact?filter=${search}`)).body.total).toBe(0)
      expect((await at('finance.localhost', `/~acme/Contact?filter=${search}`)).body.total).toBe(1)
    },
  )

  verifies('lens.industry.organization', 'of an industry finds the relation to Organization by its type', async () => {
    const declared = await host.request('PUT', '/~acme/schema/Bed', { name: 'string', owner: '-> Organization' })
    expect(declared.status).toBe(201)
    const { body } = await host.request('GET', '/~acme/Organization?sort=name')
    for (const { $id, name } of body.results) await host.request('POST', '/~acme/Bed', { name, owner: $id })

    expect(names(await at('healthcare.localhost', '/~acme/Bed'))).toEqual(['Clinic'])
    expect((await at('healthcare.localhost', '/~acme/Bed/count')).body.count).toBe(1)
  })

  verifies('lens.industry.neither', 'of an industry leaves alone what has no way to one', async () => {
    expect((await at('healthcare.localhost', '/~acme/User')).body.total).toBe(1)
  })

  verifies('lens.unknown', 'that is unknown returns 404', async () => {
    for (const [name, path] of [
      ['crmm.localhost', '/~acme/Contact'],
      ['localhost', '/crmm/~acme/Contact'],
    ] as const) {
      expect(await at(name, path)).toMatchObject({ status: 404, body: { error: 'unknown_lens', nearest: ['crm'] } })
    }
  })

  test('shows in no $context: entities say the same on every host', async () => {
    const of = async (name: string) => (await at(name, '/~acme/User')).body.results[0].$context

    expect(await of('crm.localhost')).toBe(await of('localhost'))
  })
})
