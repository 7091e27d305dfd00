import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as rawRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RateLimit } from '../packages/server/src/doors/limits/rate.ts'
import { traceOf } from '../packages/server/src/doors/watch/trace.ts'
import { startServer } from './faults/server.ts'
import { needs, ROOT, type TestHost, testHost } from './host.ts'
import { verifies } from './verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** A request whose answer is left as it came over the wire. */
async function raw(url: string, headers: Record<string, string>): Promise<{ headers: any; bytes: Buffer }> {
  const sent = rawRequest(url, { headers: { authorization: `Bearer ${ROOT}`, ...headers } }).end()
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { headers: response.headers, bytes: Buffer.concat(chunks) }
}

describe('rate limits', () => {
  verifies('rate.off', 'none applies unless one is configured', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => host.request('GET', '/~acme/Contact')))

    expect(replies.every(({ status }) => status === 200)).toBe(true)
    expect(replies[0]!.headers.has('ratelimit-limit')).toBe(false)
  })

  verifies(['rate.perKey', 'rate.answer'], 'each key has its own, and gets Retry-After', async () => {
    const limited = await testHost({ TILDE_RATE_LIMIT: '3' })
    const [one, other] = [await limited.key('acme', 'read:all'), await limited.key('acme', 'read:all')]
    const ask = () => limited.as(one)('GET', '/~acme/Contact')

    const replies = [await ask(), await ask(), await ask(), await ask()]

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(replies.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['2', '1', '0', '0'])
    expect(replies[3]!.body).toMatchObject({ error: 'rate_limited', limit: 3 })
    expect(Number(replies[3]!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(replies[3]!.headers.get('ratelimit-limit')).toBe('3')
    expect(Number(replies[3]!.headers.get('ratelimit-reset'))).toBeGreaterThan(0)
    expect((await limited.as(other)('GET', '/~acme/Contact')).status).toBe(200)
    await limited.stop()
  })

  test('a bucket fills evenly up to its limit', () => {
    let now = 0
    const rate = new RateLimit(60, () => now)
    const take = () => rate.take('k').refused === null
    for (let n = 0; n < 60; n++) take()

    expect(take()).toBe(false)
    now += 1_000
    expect([take(), take()]).toEqual([true, false])
    now += 3_600_000
    expect(Array.from({ length: 61 }, take).filter(Boolean)).toHaveLength(60)
  })
})

describe('what the operator sees', () => {
  test('what is there to be read outside tenants answers to no other method', async () => {
    needs('/metrics: isolates share no memory in which requests could be counted')
    for (const path of ['/', '/healthz', '/readyz', '/metrics']) {
      const { status, headers } = await host.request('POST', path)

      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'GET'])
    }
  })

  verifies('running.metrics', '/metrics answers in the form of Prometheus and names no tenant', async () => {
    needs('/metrics: isolates share no memory in which requests could be counted')
    await host.request('POST', '/~hidden-name/Contact', { name: 'Ada' })
    await host.request('GET', '/~hidden-name/Contact/contact_none')
    await host.as('')('GET', '/no/such/path-of-anybody')
    const { status, text, headers } = await host.as('')('GET', '/metrics')

    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
    expect(text).toMatch(/^tilde_requests_total\{method="POST",route="\/~\{tenant\}\/:type",status="201"\} \d+$/m)
    expect(text).toMatch(/^tilde_requests_total\{method="GET",route="\/~\{tenant\}\/:type\/:id",status="404"\} 1$/m)
    expect(text).toMatch(/^tilde_request_seconds_bucket\{.*le="\+Inf"\} \d+$/m)
    expect(text).toMatch(/^tilde_commits_total [1-9]/m)
    expect(text).toMatch(/^tilde_open_tenants [1-9]/m)
    for (const name of ['queue_depth', 'deliveries_total', 'event_loop_lag_seconds', 'commit_writes_sum']) {
      expect(text).toContain(`tilde_${name}`)
    }
    expect(text).not.toContain('hidden-name')
    expect(text).not.toContain('anybody')
    // Every line is a comment or a sample.
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \S+ .+|[a-z_]+(?:\{[^}]*(?:\{tenant\}[^}]*)?\})? [0-9.e+-]+)$/)
    }
  })

  test('the counts of the workers are added up', async () => {
    needs('/metrics: isolates share no memory in which requests could be counted')
    const spread = await testHost({}, { workers: '2' })
    for (const tenant of ['a', 'b', 'c']) await spread.request('POST', `/~${tenant}/Contact`, { name: 'x' })
    const { text } = await spread.as('')('GET', '/metrics')

    expect(text).toMatch(/^tilde_open_tenants 3$/m)
    expect(text).toMatch(/^tilde_commit_writes_sum 3$/m)
    await spread.stop()
  })

  test('every request is a line of JSON in the log when asked for, and no secret is in it', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-log-'))
    const server = await startServer(data, { TILDE_LOG: 'requests' })
    let log = ''
    server.process.stderr!.on('data', (chunk) => {
      log += chunk
    })
    const auth = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' }
    const made = await fetch(`${server.url}/~acme/api-keys`, { method: 'POST', headers: auth, body: '{"name":"k"}' })
    const { secret, keyPrefix } = await made.json()
    await fetch(`${server.url}/~acme/Contact?email=private`, { headers: { authorization: `Bearer ${secret}` } })
    while (!log.includes(keyPrefix)) await wait(10)
    await server.kill()
    rmSync(data, { recursive: true, force: true })

    const lines = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.find(({ key }) => key === keyPrefix)).toMatchObject({
      level: 'info',
      message: 'request',
      method: 'GET',
      path: '/~acme/Contact',
      route: '/~{tenant}/:type',
      status: 200,
      tenant: 'acme',
      requestId: expect.any(String),
      ms: expect.any(Number),
    })
    expect(log).not.toContain(secret)
    expect(log).not.toContain(ROOT)
    expect(log).not.toContain('private')
  })
})

describe('traces', () => {
  const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  test('a trace that a caller names is continued, under our own span', async () => {
    const { headers } = await host.request('GET', '/~acme/Contact', undefined, { traceparent: PARENT })

    expect(headers.get('traceparent')).toMatch(
      /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/,
    )
    expect((await host.request('GET', '/~acme/Contact')).headers.has('traceparent')).toBe(false)
  })

  test.each([
    'nonsense',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
  ])('%s names no trace', (header) => {
    expect(traceOf(header, false)).toBeNull()
  })

  test('spans are sent to a collector', async () => {
    needs('spans: the platform traces requests')
    const bodies: any[] = []
    const collector = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      bodies.push({ path: request.url, token: request.headers['x-token'], ...JSON.parse(text) })
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const traced = await testHost({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=t%20t',
      OTEL_SERVICE_NAME: 'shop',
    })
    await traced.request('GET', '/~acme/Contact', undefined, { traceparent: PARENT })
    await traced.request('GET', '/~acme/Deal')
    await traced.stop()
    collector.close()

    expect(bodies[0]).toMatchObject({ path: '/v1/traces', token: 't t' })
    const spans = bodies.flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans)
    expect(spans).toMatchObject([
      {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        parentSpanId: 'b7ad6b7169203331',
        name: 'GET /~{tenant}/:type',
        kind: 2,
      },
      { traceId: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ])
    expect(BigInt(spans[0].endTimeUnixNano) >= BigInt(spans[0].startTimeUnixNano)).toBe(true)
    expect(JSON.stringify(bodies)).not.toContain(ROOT)
  })

  test('a collector that is away costs nothing but spans', async () => {
    const traced = await testHost({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })

    expect((await traced.request('GET', '/~acme/Contact')).status).toBe(200)
    await traced.stop()
  })
})

describe('headers', () => {
  test('answers of more than a kilobyte are compressed as the reader likes it', async () => {
    needs('compression of its own: the network in front of it compresses')
    const name = 'Ada Lovelace '.repeat(200)
    const { body } = await host.request('POST', '/~acme/Contact', { name })
    const url = `${host.url}/~acme/Contact/${body.$id}`
    const read = (accept: string) => raw(url, { 'accept-encoding': accept })

    const [br, gzip, none, refused] = await Promise.all(['gzip, br', 'gzip', 'identity', 'br;q=0'].map(read))
    expect(br!.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-encoding', etag: '"1"' })
    expect(JSON.parse(brotliDecompressSync(br!.bytes).toString()).name).toBe(name)
    expect(Number(br!.headers['content-length'])).toBe(br!.bytes.length)
    expect(gzip!.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(gunzipSync(gzip!.bytes).toString()).name).toBe(name)
    for (const plain of [none, refused]) expect(JSON.parse(plain!.bytes.toString()).name).toBe(name)
    expect((await raw(`${host.url}/healthz`, { 'accept-encoding': 'br' })).headers).not.toHaveProperty(
      'content-encoding',
    )
  })

  test('streams are compressed too', async () => {
    needs('compression of its own: the network in front of it compresses')
    for (let n = 0; n < 3; n++) await host.request('POST', '/~flow/Contact', { name: `n${n}` })
    const { headers, bytes } = await raw(`${host.url}/~flow/export/Contact?format=ndjson`, {
      'accept-encoding': 'gzip',
    })

    expect(headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(bytes).toString().trim().split('\n')).toHaveLength(3)
  })

  verifies('error.requestId', 'every response has a request id, the client’s own if it is valid', async () => {
    const id = async (headers: Record<string, string>) =>
      (await host.request('GET', '/~acme/Contact', undefined, headers)).headers.get('x-request-id')

    expect(await id({ 'x-request-id': 'mine-1' })).toBe('mine-1')
    expect(await id({ 'x-request-id': 'a b' })).toMatch(/^[0-9a-f-]{36}$/)
    const large = await host.request('POST', '/~acme/Contact', 'x'.repeat(10_485_761))
    expect(large.headers.get('x-request-id')).toBe(large.body.requestId)
  })

  test('browsers do not guess the content type', async () => {
    expect((await host.request('GET', '/~acme/Contact')).headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('pages of any origin may ask, and never with cookies', async () => {
    const preflight = await host.as('')('OPTIONS', '/~acme/Contact', undefined, {
      origin: 'https://app.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-own',
    })
    const plain = await host.request('GET', '/~acme/Contact', undefined, { origin: 'https://app.test' })

    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-own')
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE')
    for (const { headers } of [preflight, plain]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.has('access-control-allow-credentials')).toBe(false)
    }
    expect(plain.headers.get('access-control-expose-headers')).toContain('etag')
    expect((await host.request('GET', '/~acme/Contact')).headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('a graceful stop', () => {
  verifies(
    ['running.stop', 'running.stop.new', 'running.readyz', 'running.healthz'],
    'finishes what is in progress and answers 503 to what is new',
    async () => {
      needs('process that is asked to stop: the platform replaces a Worker after its requests')
      const ending = await testHost()
      expect((await ending.as('')('GET', '/readyz')).status).toBe(200)
      // A request in progress: its body is not all there yet.
      const slow = rawRequest(`${ending.url}/~acme/Contact`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' },
      })
      await new Promise((done) => slow.write('{"name":', done))
      // What comes later is answered: then this one has arrived too.
      for (let i = 0; i < 3; i++) await ending.as('')('GET', '/healthz')

      const stopped = ending.stop()
      await wait(50)
      const late = await ending.request('GET', '/~acme/Contact')
      const [ready, health] = [await ending.as('')('GET', '/readyz'), await ending.as('')('GET', '/healthz')]
      slow.end('"Ada"}')
      const [response] = await once(slow, 'response')
      response.resume()
      await stopped

      expect(late).toMatchObject({ status: 503, body: { error: 'unavailable' } })
      expect(late.headers.get('retry-after')).toBe('5')
      expect([ready.status, health.status]).toEqual([503, 200])
      expect(response.statusCode).toBe(201)
    },
  )
})
