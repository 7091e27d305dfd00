import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const BODY = JSON.stringify({ name: 'Ada' })

test.each([
  ['application/json', 201],
  ['application/json; charset=utf-8', 201],
  ['APPLICATION/JSON', 201],
  ['application/vnd.example.v1+json', 201],
  ['text/plain', 201],
  ['text/plain;charset=UTF-8', 201],
  ['application/x-www-form-urlencoded', 201],
  ['image/png', 415],
  ['multipart/form-data; boundary=x', 415],
  ['application/octet-stream', 415],
  ['application/xml', 415],
  ['text/csv', 415],
  ['application/jsonp', 415],
  ['json', 415],
])('a body of the type %s gets %i', async (type, status) => {
  const reply = await host.request('POST', '/~types/Contact', BODY, { 'content-type': type })

  expect([reply.status, reply.body.field]).toEqual([status, status === 415 ? 'Content-Type' : undefined])
})

test('every endpoint with a JSON body refuses other types', async () => {
  const { body: contact } = await host.request('POST', '/~types/Contact', { name: 'Ada' })
  const statuses = []
  for (const [method, path] of [
    ['PATCH', `/~types/Contact/${contact.$id}`],
    ['PUT', `/~types/Contact/${contact.$id}`],
    ['POST', '/~types/batch'],
    ['POST', '/~types/do'],
    ['POST', '/~types/sync'],
    ['POST', '/~types/schema/Contact/rename'],
    ['POST', '/~types/api-keys'],
  ] as const)
    statuses.push([path, (await host.request(method, path, BODY, { 'content-type': 'image/png' })).status])

  expect(statuses.filter(([, status]) => status !== 415)).toEqual([])
})

test('a request without a body may name any type', async () => {
  expect((await host.request('GET', '/~types/Contact', undefined, { 'content-type': 'image/png' })).status).toBe(200)
})

test.each(['token', 'revoke', 'device', 'authorize'])('a form of OAuth has the type of a form: %s', async (name) => {
  await host.request('POST', '/~forms/User', { name: 'Ada', email: `${name}@example.org`, role: 'Admin' })
  const form = 'grant_type=authorization_code&client_id=x&token=x&code=x'
  const send = (type: string, body = form) =>
    host.as('')('POST', `/~forms/oauth/${name}`, Buffer.from(body), { 'content-type': type })
  const others = ['application/json', 'text/plain', 'image/png', 'multipart/form-data; boundary=x']

  const statuses = await Promise.all(others.map(async (type) => (await send(type)).status))

  expect(statuses).toEqual(others.map(() => 415))
  expect((await send('Application/x-www-form-urlencoded; charset=UTF-8')).status).not.toBe(415)
  const broken = await send('application/x-www-form-urlencoded', `${form}&state=%ED%A0%80`)
  expect([broken.status, broken.text]).toEqual([400, expect.stringContaining('not UTF-8 text')])
})

test('MCP takes JSON and no form', async () => {
  const message = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  const send = (type: string) =>
    host.request('POST', '/~types/mcp', message, { 'content-type': type, accept: 'application/json' })

  expect((await send('application/json')).status).toBe(200)
  expect((await send('multipart/form-data; boundary=x')).status).toBe(415)
  expect((await send('text/plain')).status).toBe(415)
})
