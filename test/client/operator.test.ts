import { tildebase } from '@tildebase/client'
import { operator } from '@tildebase/client/operator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorRoutes } from '../../packages/server/src/host/operator-routes.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

test('the operator creates a tenant with its first key, copies it, saves it and deletes it', async () => {
  const { tenants, log } = operator({ rootKey: ROOT, baseUrl: host.url })

  await tenants.create('shop')
  const { secret } = await tenants.createKey('shop', { name: 'backend', scopes: 'write:all' })
  const $ = tildebase({ tenant: 'shop', apiKey: secret!, baseUrl: host.url })
  await $.Contact.create({ name: 'Ada' })
  await tenants.fork('shop', 'shop-copy')
  const file = await (await tenants.backup('shop')).arrayBuffer()
  await tenants.restore('shop-old', file)
  const lines = await (await tenants.readLog('shop')).text()
  await tenants.replayLog('shop-replayed', lines)

  expect((await tenants.list()).map(({ tenant }) => tenant)).toEqual(['shop', 'shop-copy', 'shop-old', 'shop-replayed'])
  expect(await tenants.get('shop-old')).toMatchObject({ events: 2, entities: { Contact: 1 } })
  expect(await tenants.verify('shop')).toMatchObject({ ok: true, faults: [] })
  expect(await tenants.tasks('shop')).toEqual([])
  await tenants.delete('shop')
  await expect(tenants.get('shop')).rejects.toMatchObject({ code: 'not_found' })
  expect((await log({ limit: 1 }))[0]).toMatchObject({ tenant: 'shop' })
})

test('every endpoint of the operator is a method', async () => {
  const seen = new Set<string>()
  const client = operator({
    rootKey: ROOT,
    fetch: async (url, { method }) => {
      seen.add(
        `${method} ${new URL(url).pathname.replace('/tenants/t', '/tenants/:tenant').replace('/files/h', '/files/:hash')}`,
      )
      return Response.json({ results: [], hasMore: false, cursor: null })
    },
  })
  const { tenants } = client
  await Promise.all([
    ...[tenants.get, tenants.delete, tenants.verify, tenants.tasks, tenants.release, tenants.setAside].map((call) =>
      call('t'),
    ),
    ...[tenants.backup('t'), tenants.restore('t', ''), tenants.readLog('t'), tenants.replayLog('t', '')],
    ...[tenants.list(), tenants.tasks(), tenants.create('t'), tenants.fork('t', 'u'), tenants.salvage('t')],
    ...[tenants.readFile('t', 'h'), tenants.putFile('t', 'h', '')],
    ...[client.log(), client.rotateSigningKey(), client.describe()],
  ])

  const routes = operatorRoutes.map(({ method, path }) => `${method} ${path}`)
  expect([...seen].filter((one) => !routes.includes(one))).toEqual([])
  expect(routes.filter((route) => !seen.has(route))).toEqual([])
})
