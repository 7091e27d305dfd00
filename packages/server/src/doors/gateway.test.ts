import { expect, test } from 'vitest'
import { Gateway, type Tenants } from './gateway.ts'
import type { HttpRequest } from './http.ts'

const ask = (path: string, headers: HttpRequest['headers'] = {}): HttpRequest => ({
  method: 'GET',
  scheme: 'http',
  host: 'localhost',
  path,
  query: '',
  headers: { authorization: 'Bearer root', ...headers },
  body: null,
})

function gatewayTo(handle: Tenants['handle'], told: unknown[] = []): Gateway {
  return new Gateway({
    tenants: { handle, verify: async () => false },
    signup: false,
    hostSuffix: 'localhost',
    isOperator: (secret) => secret === 'root',
    requestId: () => 'made',
    report: (reason) => told.push(reason),
    outside: ({ path }) => (path.endsWith('docs') ? { status: 200, headers: {}, body: 'docs' } : null),
  })
}

const REASON = new Error('inner words')

test.each<[string, Tenants['handle']]>([
  [
    'at once',
    () => {
      throw REASON
    },
  ],
  ['later', () => Promise.reject(REASON)],
])('a failure behind it, %s, is answered and logged', async (_, fail) => {
  const told: unknown[] = []

  const { status, headers, body } = await gatewayTo(fail, told).answer(ask('/~acme/Contact'))

  expect([status, headers['x-request-id'], told]).toEqual([500, 'made', [REASON]])
  expect(String(body)).not.toContain('inner words')
})

test.each([
  ['mine-1.a', 'mine-1.a'],
  ['with space', 'made'],
  ['x'.repeat(101), 'made'],
])('the request id %j is answered with %j', async (given, answered) => {
  const gateway = gatewayTo(() => ({ status: 200, headers: {}, body: null }))

  expect((await gateway.answer(ask('/~acme', { 'x-request-id': given }))).headers['x-request-id']).toBe(answered)
})

test('a browser has the pages at docs, and what lies below is a type of that name', async () => {
  const gateway = gatewayTo(() => ({ status: 404, headers: {}, body: null }))
  const status = async (path: string, accept: string) => (await gateway.answer(ask(path, { accept }))).status

  expect(await status('/~acme/docs', 'text/html')).toBe(200)
  expect(await status('/~acme/docs', 'application/json')).toBe(404)
  expect(await status('/~acme/docs/docs', 'text/html')).toBe(404)
})
