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
