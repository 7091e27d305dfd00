import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from './faults/server.ts'
import { ROOT, type TestHost, testHost } from './host.ts'

const TREE = join(import.meta.dirname, '..')

let host: TestHost

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

test.each([
  ['threat', 'docs/notes/threats.md', (page: string) => page.split('\n## What is stored\n')[0]!],
  ['finding', 'docs/design/threats.md', (page: string) => page.split('\n## Findings of the third review\n')[1]!],
])('every %s that is written down names tests that are there', (_, path, tableOf) => {
  const rows = tableOf(readFileSync(join(TREE, path), 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  const named = rows.map(([threat, tests]) => ({
    threat,
    tests: [...tests!.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, file, title]) => ({ file: file!, title: title! })),
  }))
  const missing = named
    .flatMap(({ tests }) => tests)
    .filter(
      ({ file, title }) => !existsSync(join(TREE, file)) || !readFileSync(join(TREE, file), 'utf8').includes(title),
    )

  expect(rows.length).toBeGreaterThan(20)
  expect(named.filter(({ tests }) => tests.length === 0)).toEqual([])
  expect(missing).toEqual([])
})

test('no filter, sort, group, choice of fields or word tells one secret from another', async () => {
  const secret = await host.key('oracle', 'read:crm')
  const hook = { url: 'https://example.com/', events: ['*'], secret: 'whsec_aGVsbG8gaGVsbG8gaGVsbG8gaGVsbG8=' }
  await host.request('POST', '/~oracle/webhooks', hook)
  const questions = (guess: string) => [
    ...['secret', 'hash', 'key', 'keyHash', 'data.secret', '$secret'].flatMap((name) => [
      `filter=${encodeURIComponent(JSON.stringify({ [name]: { $gte: guess } }))}`,
      `filter=${encodeURIComponent(JSON.stringify({ [name]: { $regex: `^${guess.slice(0, 12)}` } }))}`,
      `${name}=${encodeURIComponent(guess)}`,
    ]),
    `filter=${encodeURIComponent(JSON.stringify({ $text: guess.slice(3, 14) }))}`,
  ]
  const answers = async (type: string, guess: string) => {
    const replies = questions(guess).map((query) => host.request('GET', `/~oracle/${type}?${query}&fields=name`))
    return (await Promise.all(replies)).map(({ status, body }) => [status, body.error ?? body.total])
  }

  for (const [type, right] of [
    ['ApiKey', secret],
    ['Webhook', hook.secret],
  ] as const) {
    expect(await answers(type, right)).toEqual(await answers(type, `zz_${'x'.repeat(right.length - 3)}`))
    for (const query of ['sort=secret', 'fields=secret', 'sort=hash', 'fields=hash']) {
      expect((await host.request('GET', `/~oracle/${type}?${query}`)).text).not.toContain(right.slice(8))
    }
    expect((await host.request('GET', `/~oracle/${type}/aggregate?group=secret`)).text).not.toContain(right.slice(8))
  }
})

test.each([
  [
    'Integration',
    'apiBaseUrl',
    { name: 'Mail', provider: 'smtp', apiBaseUrl: 'smtps://ada:hunter22@mail.example.org' },
  ],
  ['Integration', 'apiBaseUrl', { name: 'CRM', provider: 'hubspot', apiBaseUrl: 'https://hunter22@api.example.org' }],
  ['Integration', 'apiBaseUrl', { name: 'Own', provider: 'own', apiBaseUrl: 'https://ada:hunter22@api.example.org' }],
  ['Integration', 'token', { name: 'CRM', provider: 'hubspot', token: 'hunter22' }],
  ['Integration', 'password', { name: 'Mail', provider: 'smtp', password: 'hunter22' }],
  ['User', 'password', { name: 'Ada', email: 'ada@example.org', role: 'Viewer', password: 'hunter22' }],
])('credentials do not become a part of an entity: %s.%s %j', async (type, field, given) => {
  const plain = Object.fromEntries(Object.entries(given).filter(([name]) => name !== field))
  const send = (method: string, path: string, body: unknown) => host.request(method, `/~credentials/${path}`, body)
  const { body: entity } = await send('POST', type, { ...plain, email: `${crypto.randomUUID()}@example.org` })
  const secret = { [field]: (given as Record<string, unknown>)[field] }

  const replies = [
    await send('POST', type, given),
    await send('PUT', `${type}/${entity.$id}`, secret),
    await send('POST', `${type}?propose=Secret`, given),
    await send('POST', `${type}/${entity.$id}/${type === 'User' ? 'update' : 'connect'}`, secret),
  ]
  const imported = await send('POST', `import/${type}`, [given])
  const change = { type, id: entity.$id, operation: 'update', data: secret, timestamp: new Date().toISOString() }
  await send('POST', 'sync', { changes: [change] })

  expect(replies.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  expect(imported.body.imported ?? 0).toBe(0)
  for (const { text } of [...replies, imported]) expect(text).not.toContain('hunter22')
  expect((await host.request('GET', '/~credentials/events?limit=1000')).text).not.toContain('hunter22')
})

test('no body, file or parameter reaches the prototypes of the process', async () => {
  const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
  const contact = `{"name":"x","notes":${evil},"__proto__":{"polluted":1}}`
  const csv = { 'content-type': 'text/csv' }
  const replies = await Promise.all([
    host.request('POST', '/~proto/Contact', contact),
    host.request('POST', '/~proto/Contact', evil),
    host.request('POST', '/~proto/batch', `{"operations":[{"method":"POST","path":"/Contact","body":${contact}}]}`),
    host.request('POST', '/~proto/sync', `{"lastSyncAt":null,"changes":[${contact}],"__proto__":{"polluted":1}}`),
    host.request('POST', '/~proto/import/Contact', `[${contact}]`),
    host.request('POST', '/~proto/import/Contact', 'name,__proto__,__proto__.polluted\nx,1,1\n', csv),
    host.request('PUT', '/~proto/schema/Thing', evil),
    host.request('POST', '/~proto/do', JSON.stringify({ code: `Object.prototype.polluted = 1; ${contact}` })),
    host.request('GET', `/~proto/Contact?filter=${encodeURIComponent(evil)}`),
    host.request('GET', '/~proto/Contact?__proto__.polluted=1&__proto__[polluted]=1&constructor.prototype.polluted=1'),
  ])

  expect(replies.filter(({ status }) => status >= 500)).toEqual([])
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
  expect((await host.request('GET', '/~proto/Contact')).text).not.toContain('polluted')
})

test('a cell that a spreadsheet would run is guarded when that is asked for, also in the header', async () => {
  const names = ['=1+1', '+1', '-a', '@sum(a)', '\t=1', '\r=1', 'plain', '1-1']
  for (const name of names) await host.request('POST', '/~sheet/Contact', { name, '=field': 1 })

  const { text } = await host.request('GET', '/~sheet/export/Contact?format=csv&safe=true')

  for (const name of names.slice(0, 6)) expect(text).toContain(`'${name}`)
  expect(text).not.toContain("'plain")
  expect(text).not.toContain("'1-1")
  expect(text.split('\r\n')[0]).toContain(",'=field")
})

test('a live stream does not open without a key, nor with one of another tenant', async () => {
  const foreign = await host.key('elsewhere', 'admin:all')
  const live = { accept: 'text/event-stream' }
  for (const path of ['/~acme/events', '/~acme/Contact', '/~acme/mcp']) {
    expect((await host.as('')('GET', path, undefined, live)).status, path).toBe(401)
    expect((await host.as(foreign)('GET', path, undefined, live)).status, path).toBe(403)
  }
})

test('no error repeats the key it was asked with', async () => {
  const narrow = await host.key('acme', 'read:Plan')
  const wrong = `tb_${'q'.repeat(40)}~acme`
  for (const key of [narrow, wrong, `${narrow}x`, 'not-a-key']) {
    for (const path of ['/~acme/Contact', '/~other/Contact', '/~acme/nothing', '/operator/tenants', '/~acme/%00']) {
      const { status, text } = await host.as(key)('GET', path)
      expect(status, path).toBeGreaterThanOrEqual(400)
      expect(text).not.toContain(key.slice(0, 30))
    }
  }
})

test('a request cannot write a line of its own into the log', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-log-'))
  const server = await startServer(data, { TILDE_LOG: 'requests' })
  let log = ''
  server.process.stderr!.on('data', (chunk) => {
    log += chunk
  })
  const forged = '{"level":"error","message":"forged"}'
  const requests = [
    [`/~acme/Contact/%0a${encodeURIComponent(forged)}%0a`, ''],
    [`/~%0d%0a${encodeURIComponent(forged)}/Contact`, ''],
    ['/~acme/Contact?name=%0aforged%0a', `X-Request-Id: a\tb${forged}`],
    ['/~acme/Contact', `User-Agent: \u0085${forged}`],
    ['/~acme/Contact', `X-Request-Id: mine\n${forged}`],
    ['/~acme/last', ''],
  ]
  for (const [path, header] of requests) await raw(server.url, path!, header!)
  while (!log.includes('/~acme/last')) await wait(10)
  await server.kill()
  rmSync(data, { recursive: true, force: true })

  const lines = log.trimEnd().split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  const messages = lines.map((line) => JSON.parse(line).message)
  expect(messages).not.toContain('forged')
  expect(messages.filter((message) => message === 'request').length).toBeGreaterThanOrEqual(4)
})

/** Sends a request as it is written, and waits for the end of the answer. */
function raw(url: string, path: string, header: string): Promise<void> {
  const head = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${ROOT}`, 'Connection: close']
  return new Promise((done) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`${[...head, ...(header === '' ? [] : [header])].join('\r\n')}\r\n\r\n`),
    )
    socket.on('error', () => done())
    socket.on('close', () => done())
    socket.resume()
  })
}
