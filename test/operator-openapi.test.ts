import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorRoutes } from '../packages/server/src/host/operator-routes.ts'
import { type Reply, type TestHost, testHost } from './host.ts'
import { Judge } from './openapi-judge.ts'

let host: TestHost
let document: Reply['body']
beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  document = (await host.request('GET', '/operator/openapi.json')).body
})
afterAll(() => host.stop())

test('the document of the operator is valid and has every endpoint', async () => {
  const { valid, errors } = await new Validator().validate(document)
  const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )

  expect(valid, JSON.stringify(errors)?.slice(0, 1_000)).toBe(true)
  expect(described.toSorted()).toEqual(operatorRoutes.map(({ method, path }) => `${method} ${path}`).toSorted())
})

test('it needs the operator key', async () => {
  const key = await host.key('acme', 'admin:all')

  expect((await host.as(key)('GET', '/operator/openapi.json')).status).toBe(403)
  expect((await host.as('')('GET', '/operator/openapi.json')).status).toBe(401)
})

test('every endpoint of the operator answers as the document says', async () => {
  const judge = new Judge(document)
  const { text: log } = await host.request('GET', '/operator/tenants/acme/log')
  const bodies: { readonly [endpoint: string]: unknown } = {
    'POST /operator/tenants': { tenant: 'fresh' },
    'POST /operator/tenants/:tenant/fork': { to: 'acme-copy' },
    'PUT /operator/tenants/:tenant/log': log,
  }
  // What deletes the tenant comes last.
  const routes = operatorRoutes.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))

  const differences = []
  for (const { method, path } of routes) {
    for (const tenant of ['nowhere', 'acme']) {
      const at = path.replace(':tenant', tenant)
      const reply = await host.request(method, at, bodies[`${method} ${path}`])
      const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]
      differences.push(judge.differs(operation, reply, `${method} ${at} ${reply.status}`))
    }
  }

  expect(differences.filter((one) => one !== null)).toEqual([])
})
