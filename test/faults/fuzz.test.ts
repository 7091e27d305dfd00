import { request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

const RUNS = Number(process.env.TILDE_FUZZ ?? 400)
const PATIENCE_MS = 60_000

let host: TestHost
let contact: string

beforeAll(async () => {
  host = await testHost()
  contact = (await host.request('POST', '/~acme/Contact', { name: 'Ada', email: 'a@b.c' })).body.$id
})
afterAll(() => host.stop())

/** Whatever was sent, it is answered, in time, and not as a fault of ours. */
async function survives(
  method: string,
  path: string,
  body: string | Buffer | null,
  headers: Record<string, string> = {},
): Promise<void> {
  const { status, text } = await send(method, path, body, headers)
  if (status >= 500 && status !== 501)
    throw new Error(`${status} to ${method} ${path.slice(0, 300)} ${String(body).slice(0, 300)}: ${text.slice(0, 300)}`)
  expect(text).not.toMatch(/node:internal|\.ts:\d+/)
  // MCP has errors of its own form.
  if (status >= 400 && text !== '' && !path.includes('/mcp'))
    expect(Object.keys(JSON.parse(text))).toEqual(expect.arrayContaining(['error', 'message', 'requestId']))
}

function send(
  method: string,
  path: string,
  body: string | Buffer | null,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((done, failed) => {
    const sent = request(
      `${host.url}`,
      {
        method,
        path,
        headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json', ...headers },
        timeout: PATIENCE_MS,
      },
      (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
          // A live stream has no end of its own.
          if (response.headers['content-type']?.includes('event-stream')) response.destroy()
        })
        response.on('close', () =>
          done({
            status: response.statusCode ?? 0,
            text:
              response.headers['content-type']?.includes('json') && !response.headers['content-encoding'] ? text : '',
          }),
        )
      },
    )
    sent.on('timeout', () => failed(new Error(`no answer in ${PATIENCE_MS} ms to ${method} ${path.slice(0, 200)}`)))
    sent.on('error', (reason: NodeJS.ErrnoException) =>
      reason.code === 'ECONNRESET' || reason.code === 'EPIPE' ? done({ status: 400, text: '' }) : failed(reason),
    )
    sent.end(body ?? undefined)
  })
}

const segment = fc.oneof(
  fc.constantFrom(
    'Contact',
    'contacts',
    'Deal',
    'ApiKey',
    'webhooks',
    'Event',
    'events',
    'Metric',
    'metrics',
    'schema',
    'batch',
    'sync',
    'manifest',
    'export',
    'history',
    'diff',
    'aggregate',
    'count',
    'qualify',
    'rollback',
    'restore',
    'deliveries',
    'openapi.json',
    'undo',
    'hooks',
    'evaluate',
    'erase',
  ),
  fc.string({ maxLength: 20 }).map(encodeURIComponent),
  fc.constantFrom('%00', '%2e%2e', '..', '%', '%zz', '__proto__', 'constructor', '~acme', '%ff', 'a'.repeat(300)),
)
const operator = fc.constantFrom(
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$exists',
  '$regex',
  '$not',
  '$and',
  '$or',
  '$text',
  '$options',
  '$where',
  '$expr',
)
const path = fc.constantFrom(
  'name',
  'email',
  'stage',
  'organization',
  'organization.name',
  'deals.value',
  'manager.manager.name',
  '$id',
  '$createdAt',
  'createdAt',
  'notes.a.0.b',
  '__proto__',
  'secret',
  'keyPrefix',
  '',
  'a"b',
  "a'b",
  '$version',
)
const { filter } = fc.letrec((tie) => ({
  filter: fc.dictionary(fc.oneof(path, operator), tie('operand'), { maxKeys: 4 }),
  operand: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('now', '7d ago', '(a+)+$', '[', '2026-01-01', null, 1e308, -0),
    fc.array(tie('filter'), { maxLength: 3 }),
    fc.dictionary(operator, tie('operand'), { maxKeys: 3 }),
  ),
}))
const parameter = fc.record({
  name: fc.oneof(
    fc.constantFrom(
      'filter',
      'sort',
      'limit',
      'offset',
      'cursor',
      'asOf',
      'include',
      'fields',
      'total',
      'explain',
      'dryRun',
      'since',
      'type',
      'format',
      'group',
      'sum',
      'from',
      'to',
      'name',
    ),
    path,
  ),
  value: fc.oneof(
    fc.string({ maxLength: 30 }),
    filter.map((json) => JSON.stringify(json)),
    fc.constantFrom(
      '-1',
      '0',
      '101',
      'NaN',
      '2026-01-01T00:00:00Z',
      'organization.contacts.deals',
      '-name,stage',
      'WyJh',
      'true',
      'csv',
      'parquet',
    ),
  ),
})
const query = fc
  .array(parameter, { maxLength: 4 })
  .map((list) =>
    list.map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
  )

test('any method, path and query', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      fc.array(segment, { maxLength: 4 }),
      query,
      fc.boolean(),
      async (method, segments, search, withId) => {
        const below = withId && segments.length > 1 ? [segments[0], contact, ...segments.slice(2)] : segments
        await survives(
          method,
          `/~acme/${below.join('/')}?${search}`,
          method === 'POST' || method === 'PUT' ? '{}' : null,
        )
      },
    ),
    { numRuns: RUNS },
  )
})

test('any filter', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(filter, fc.constantFrom('Contact', 'Deal', 'Event', 'ApiKey'), async (json, type) => {
      await survives('GET', `/~acme/${type}?filter=${encodeURIComponent(JSON.stringify(json).toWellFormed())}`, null)
    }),
    { numRuns: RUNS },
  )
})

test('any body', { timeout: 600_000 }, async () => {
  const targets = [
    '/~acme/Contact',
    '/~acme/Deal',
    '/~acme/api-keys',
    '/~acme/webhooks',
    '/~acme/events',
    '/~acme/batch',
    '/~acme/sync',
    '/~acme/schema/Thing',
    '/~acme/Funnel',
    '/~acme/FeatureFlag',
    '/~acme/do',
    '/~acme/mcp',
    '/~acme/import/Contact',
  ]
  const fields = fc.dictionary(
    fc.oneof(
      fc.constantFrom(
        'name',
        'email',
        'url',
        'events',
        'scopes',
        'filter',
        'operations',
        'changes',
        'lastSyncAt',
        'atomic',
        'steps',
        'key',
        'code',
        'method',
        'params',
        'jsonrpc',
        'id',
        '$id',
        '$ref',
        '__proto__',
      ),
      fc.string({ maxLength: 8 }),
    ),
    fc.jsonValue({ maxDepth: 4 }),
    { maxKeys: 6 },
  )
  const body = fc.oneof(
    fields.map((json) => JSON.stringify(json)),
    fc.json(),
    fc.string(),
    fc.constantFrom('', 'null', '[]', '[1]', '{"a":', '['.repeat(10_000), '1e999', '{"name":"\\ud800"}'),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...targets), body, fc.boolean(), async (target, sent, dry) => {
      const method = target.includes('/schema/') ? 'PUT' : 'POST'
      await survives(method, `${target}${dry ? '?dryRun=true' : ''}`, Buffer.from(sent.toWellFormed()))
    }),
    { numRuns: RUNS },
  )
})

test('any import', { timeout: 600_000 }, async () => {
  const types = fc.constantFrom(
    'application/json',
    'application/x-ndjson',
    'text/csv',
    'text/csv; charset=utf-8',
    'application/xml',
    '',
  )
  await fc.assert(
    fc.asyncProperty(
      types,
      fc.oneof(
        fc.string(),
        fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '{', '}', '[', ']', ':', ' ') }),
        fc.json(),
      ),
      fc.boolean(),
      async (type, body, gzip) => {
        await survives('POST', '/~acme/import/Contact', Buffer.from(body.toWellFormed()), {
          'content-type': type,
          ...(gzip && { 'content-encoding': 'gzip' }),
        })
      },
    ),
    { numRuns: RUNS },
  )
})

test('any header', { timeout: 600_000 }, async () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  const name = fc.constantFrom(
    'authorization',
    'if-match',
    'if-none-match',
    'idempotency-key',
    'host',
    'accept',
    'x-request-id',
    'traceparent',
    'last-event-id',
    'accept-encoding',
    'x-forwarded-proto',
    'origin',
    'x-correlation-id',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, visible, { maxKeys: 4 }),
      fc.constantFrom('GET', 'POST'),
      async (headers, method) => {
        await survives(method, '/~acme/Contact', method === 'POST' ? '{"name":"x"}' : null, headers)
      },
    ),
    { numRuns: RUNS },
  )
})

test('bytes that are not HTTP at all', async () => {
  const { port } = new URL(host.url)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await new Promise<void>((done) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes))
        socket.on('close', () => done())
        socket.on('error', () => done())
        socket.resume()
      })
    }),
    { numRuns: 100 },
  )
  expect((await host.request('GET', '/healthz')).status).toBe(200)
})
