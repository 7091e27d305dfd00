import { expect, test } from 'vitest'
import { type AppOptions, handleRequest } from '../packages/server/src/doors/app.ts'
import type { HttpRequest } from '../packages/server/src/doors/http.ts'
import { RateLimit } from '../packages/server/src/doors/limits/rate.ts'
import { routes } from '../packages/server/src/doors/route-table.ts'
import type { Sender } from '../packages/server/src/doors/tenant-call.ts'
import { openAcme } from './tenant/fixture.ts'

/** The app over its own tenant, without any host around it. */
function openApp(more: Partial<AppOptions> = {}) {
  const { tenant } = openAcme()
  const options: AppOptions = { routes, signup: false, report: () => {}, ...more }
  const send = async (
    method: string,
    path: string,
    body: object | null,
    sender: Sender,
    headers: HttpRequest['headers'] = {},
  ) => {
    const place = { tenant: 'acme', dimensions: [], segments: path.split('/').slice(1), baseUrl: 'http://localhost' }
    const bytes = body && new TextEncoder().encode(JSON.stringify(body))
    const ask = { method, scheme: 'http', host: 'localhost', path: `/~acme${path}`, query: '', headers, body: bytes }
    return handleRequest(
      tenant.facade,
      { slug: 'acme', request: ask as HttpRequest, target: place, sender, requestId: 'r' },
      options,
    )
  }
  return { tenant, send }
}

const NOBODY: Sender = { kind: 'anonymous' }
const ROOT: Sender = { kind: 'operator' }

test('no first key is issued if sign-up is closed, whatever the host lets through', async () => {
  const { tenant, send } = openApp()

  expect((await send('POST', '/api-keys', { name: 'k' }, NOBODY)).status).toBe(401)
  expect(tenant.head.seq).toBe(0)
})

test('if sign-up is open, only the first key is issued without a key, and once', async () => {
  const { send } = openApp({ signup: true })
  const asked: [string, string, object | null][] = [
    ['POST', '/Contact', { name: 'x' }],
    ['GET', '/api-keys', null],
    ['POST', '/ApiKey', { name: 'k' }],
    ['POST', '/api-keys', { name: 'k' }],
  ]
  const statuses: number[] = []
  for (const [method, path, body] of asked) statuses.push((await send(method, path, body, NOBODY)).status)

  expect(statuses).toEqual([401, 401, 201, 401])
})

test('turns are counted by key and tenant, and reported with every answer, including refusals', async () => {
  const rate = new RateLimit(2, () => 0)
  const [one, other] = [openApp({ rate }), openApp({ rate })]
  Object.assign(other.tenant.facade, { slug: 'globex' })
  const get = ({ send }: typeof one, path: string) => send('GET', path, null, ROOT)

  const given = [await get(one, '/Contact'), await get(one, '/Nothing'), await get(one, '/Contact')]

  expect(given.map(({ status }) => status)).toEqual([200, 404, 429])
  expect(given.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['1', '0', '0'])
  expect(given[2]!.headers['retry-after']).toBe('30')
  expect((await get(other, '/Contact')).status).toBe(200)
})

test.each([
  ['order-7:a.b_c', 'order-7:a.b_c'],
  ['with space', null],
  ['x'.repeat(101), null],
  ['', null],
  ['changeset_0VbNUf91UocVAewMCeY0Jo', null],
])('the correlation %j is kept as %j', async (given, kept) => {
  const { tenant, send } = openApp()

  await send('POST', '/Contact', { name: 'Ada' }, ROOT, { 'x-correlation-id': given })

  expect(tenant.sql.rows('SELECT correlation FROM events')).toEqual([[kept]])
})

test('an internal error is logged, and the client gets it without details', async () => {
  const told: unknown[] = []
  const { tenant, send } = openApp({ report: (reason) => told.push(reason) })
  const reason = new Error('inner words')
  tenant.transactor.extensions.listeners.push(() => {
    throw reason
  })

  const { status, body } = await send('POST', '/Contact', { name: 'Ada' }, ROOT)

  expect([status, told]).toEqual([500, [reason]])
  expect(String(body)).not.toContain('inner words')
})
