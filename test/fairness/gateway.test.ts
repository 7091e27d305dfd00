import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type TestHost, testApp, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await host?.stop()
})

async function start(env: Record<string, string> = {}, workers = '1'): Promise<void> {
  host = await testHost(env, { workers })
}

describe('a request without a valid key', () => {
  const keys = [
    ['no key', []],
    ['an unknown key', ['Authorization: Bearer tb_nobody~acme']],
    ['a key of a tenant that does not exist', ['Authorization: Bearer tb_nobody~nowhere']],
  ] as const

  test.each(keys)('with %s is answered before its body comes', async (_, headers) => {
    await start()
    await host.key('acme', 'read:all')
    const socket = await connected()
    socket.write(head('POST', '/~acme/Contact', 'Content-Length: 1000', ...headers))

    expect(await statuses(socket, 1)).toEqual([401])
  })

  test.each(keys.slice(0, 2))('with %s is not asked for the body that it announces', async (_, headers) => {
    await start()
    await host.key('acme', 'read:all')
    const socket = await connected()
    socket.write(head('POST', '/~acme/Contact', 'Content-Length: 1000', 'Expect: 100-continue', ...headers))

    expect(await statuses(socket, 1)).toEqual([401])
  })

  test('is refused however many of them are pipelined, and the neighbour is served', async () => {
    await start()
    const key = await host.key('acme', 'read:all')
    const socket = await connected()
    socket.write(head('GET', '/~acme/Contact').repeat(2_000))

    const neighbour = await Promise.all(Array.from({ length: 20 }, () => host.as(key)('GET', '/~acme/Contact')))
    const answers = await statuses(socket, 2_000)

    expect(neighbour.map(({ status }) => status)).toEqual(Array(20).fill(200))
    // The second refusal ends the connection: what was sent after it is not looked at.
    expect(answers).toEqual([401, 401])
    expect((await refusals()).no_key).toBe(2)
  })

  verifies('fair.keyless', 'does not open the tenant', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-'))
    const openTenants = async () =>
      / (\d+)$/m.exec((await host.request('GET', '/metrics')).text.split('# TYPE tilde_open_tenants')[1]!)![1]
    host = await testHost({}, { workers: '1', data })
    const key = await host.key('acme', 'read:all')
    await host.stop()
    host = await testHost({}, { workers: '1', data })

    const refused = [
      await host.as('')('GET', '/~acme/Contact'),
      await host.as(`tb_${'x'.repeat(40)}~acme`)('GET', '/~acme/Contact'),
    ]

    expect(refused.map(({ status }) => status)).toEqual([401, 401])
    expect(await openTenants()).toBe('0')
    expect([(await host.as(key)('GET', '/~acme/Contact')).status, await openTenants()]).toEqual([200, '1'])
    rmSync(data, { recursive: true, force: true })
  })

  test('may try some keys, and no more of them are looked up', async () => {
    await start({}, '0')
    const key = await host.key('acme', 'read:all')
    const ask = async (secret: string, tenant: string) => (await host.as(secret)('GET', `/~${tenant}/Contact`)).status
    expect(await ask(key, 'acme')).toBe(200)

    const tries = await Promise.all(Array.from({ length: 400 }, (_, n) => ask(`tb_guess${n}~acme`, 'acme')))

    expect(new Set(tries)).toEqual(new Set([401, 429]))
    expect(tries.filter((status) => status === 401).length).toBeGreaterThanOrEqual(200)
    expect(await refusals()).toMatchObject({ key_guesses: tries.filter((status) => status === 429).length })
    expect([await ask(key, 'acme'), await ask('tb_guess1~nowhere', 'nowhere')]).toEqual([200, 429])
  })
})

test('a tenant is served beside a burst of another one, in the same thread', async () => {
  const app = await testApp({ TILDE_KEY_REQUESTS: '1000', TILDE_TENANT_REQUESTS: '1000' }, { workers: '0' })
  const [loud, quiet] = [await app.key('loud', 'admin:all'), await app.key('quiet', 'admin:all')]
  const rows = Array.from({ length: 100 }, (_, i) => ({ name: `Person ${i}` }))
  await app.as(loud)('POST', '/~loud/import/Contact', rows)
  const order: string[] = []
  const ask = async (name: string, key: string) => {
    const { status } = await app.as(key)('GET', `/~${name}/Contact?limit=100&sort=-name`)
    order.push(`${name} ${status}`)
  }

  await Promise.all([...Array.from({ length: 200 }, () => ask('loud', loud)), ask('quiet', quiet)])

  expect(order.indexOf('quiet 200')).toBeLessThan(100)
  expect(order.filter((one) => one === 'loud 200')).toHaveLength(200)
  await app.stop()
})

test('a key that is revoked is refused at the very next request', async () => {
  await start()
  const { body: made } = await host.request('POST', '/~acme/api-keys', { name: 'short', scopes: 'read:all' })
  const ask = async () => (await host.as(made.secret)('GET', '/~acme/Contact')).status
  expect(await ask()).toBe(200)

  await host.request('POST', `/~acme/api-keys/${made.$id}/revoke`, {})

  expect([await ask(), await ask()]).toEqual([401, 401])
})

test('a client with a valid key is asked for the body that it announces', async () => {
  await start()
  const key = await host.key('acme', 'write:all')
  const socket = await connected()
  const body = '{"name":"Ada"}'
  socket.write(
    head(
      'POST',
      '/~acme/Contact',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ),
  )
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 100 /)
  socket.write(body)

  expect(await statuses(socket, 1)).toEqual([201])
})

describe('polls', () => {
  test('of one key are bounded, and the neighbour is served next to a thousand of them', async () => {
    await start()
    const key = await host.key('loud', 'read:Metric')
    const other = await host.key('quiet', 'write:all')
    const leave = new AbortController()
    const refused: number[] = []
    const polls = Array.from({ length: 1_000 }, async () => {
      const headers = { authorization: `Bearer ${key}` }
      const path = '/~loud/events?since=now&wait=60'
      const reply = await host.fetch(path, { headers, signal: leave.signal }).catch(() => null)
      if (reply) refused.push(reply.status)
    })

    await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(744)
    const neighbour = await each(20, (n) => host.as(other)('POST', '/~quiet/Contact', { name: `c${n}` }))
    const own = await host.as(key)('GET', '/~loud/Metric')

    expect(new Set(refused)).toEqual(new Set([429]))
    expect(neighbour.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(own.status).toBe(200)

    leave.abort()
    await Promise.all(polls)
    // Polls whose clients have left hold no place.
    await expect
      .poll(async () => (await host.as(key)('GET', '/~loud/events?since=now&wait=1')).status, { timeout: 20_000 })
      .toBe(200)
  }, 60_000)

  test('of one tenant are bounded, and those of another are not', async () => {
    await start({ TILDE_TENANT_POLLS: '3' })
    const ask = (tenant: string) => host.request('GET', `/~${tenant}/events?since=now&wait=2`)

    const loud = await Promise.all(Array.from({ length: 5 }, () => ask('loud')))
    const both = await Promise.all([ask('loud'), ask('quiet')])

    expect(loud.map(({ status }) => status).sort()).toEqual([200, 200, 200, 503, 503])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
  })
})

test('requests of a key in progress are bounded, and code of a caller that leaves is stopped', async () => {
  await start({ TILDE_KEY_REQUESTS: '2' })
  const key = await host.key('loud', 'admin:all')
  const other = await host.key('quiet', 'admin:all')
  const leave = new AbortController()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const loops = Array.from({ length: 2 }, () =>
    host
      .fetch('/~loud/do', {
        method: 'POST',
        headers,
        body: JSON.stringify({ code: "await $.Contact.create({ name: 'begun' }); for (;;);" }),
        signal: leave.signal,
      })
      .catch(() => null),
  )
  await expect
    .poll(async () => (await host.request('GET', '/~loud/Contact/count')).body.count, { timeout: 9_000 })
    .toBe(2)
  const third = await host.as(key)('GET', '/~loud/Contact')
  const neighbour = await host.as(other)('POST', '/~quiet/do', { code: '1 + 1' })

  leave.abort()
  await Promise.all(loops)

  expect([third.status, third.body.error, third.body.limit]).toEqual([429, 'rate_limited', 2])
  expect([neighbour.status, neighbour.body.result]).toEqual([200, 2])
  await expect
    .poll(async () => (await host.as(key)('GET', '/~loud/Contact')).status, { timeout: 5_000, interval: 20 })
    .toBe(200)
}, 40_000)

describe('bodies', () => {
  test('that are held are bounded, and the tenant that holds most gives way', async () => {
    await start({ TILDE_BODY_MEMORY: '4MiB', TILDE_BODY_LIMIT: '1MiB', TILDE_PROXIES: '127.0.0.0/8' })
    const loud = await host.key('loud', 'write:all')
    const quiet = await host.key('quiet', 'write:all')
    const held = await each(6, async (n) => {
      const socket = await connected()
      const from = `X-Forwarded-For: 203.0.113.${n}`
      socket.write(head('POST', '/~loud/Contact', `Authorization: Bearer ${loud}`, from, 'Content-Length: 1000000'))
      socket.write('x'.repeat(900_000))
      await expect.poll(bodyBytes, { timeout: 10_000 }).toBeGreaterThan(Math.min(n * 900_000, 3_000_000))
      return socket
    })
    const note = 'y'.repeat(900_000)

    const written = await host.as(quiet)('POST', '/~quiet/Contact', { name: 'Ada', note })

    expect([written.status, await bodyBytes()]).toEqual([201, expect.any(Number)])
    expect(await bodyBytes()).toBeLessThanOrEqual(4_194_304)
    for (const socket of held) socket.write('x'.repeat(100_000))
    const answers = await Promise.all(held.map(async (socket) => (await statuses(socket, 1))[0]))
    expect(answers.filter((status) => status === 503)).toHaveLength(3)
    expect(await refusals()).toMatchObject({ body_memory: 3 })
  }, 40_000)

  for (const [what, path, type] of [
    ['an entity', '/~acme/Contact', 'application/json'],
    ['an import', '/~acme/import/Contact', 'application/x-ndjson'],
  ] as const)
    verifies('fair.slow', `that drip are cut off: ${what}`, async () => {
      await start({ TILDE_BODY_TIMEOUT: '1s' })
      const key = await host.key('acme', 'write:all')
      const socket = await connected()
      let isAnswered = false
      socket.once('data', () => {
        isAnswered = true
      })
      const answer = statuses(socket, 1)
      socket.write(head('POST', path, `Authorization: Bearer ${key}`, `Content-Type: ${type}`, 'Content-Length: 1000'))
      for (let n = 0; n < 100 && !isAnswered; n++) {
        socket.write(' ')
        await wait(100)
      }

      expect(await answer).toEqual([408])
      expect(await refusals()).toMatchObject({ slow_body: 1 })
    })
})

describe('one address', () => {
  test('has so many connections', async () => {
    await start({ TILDE_ADDRESS_SOCKETS: '3' })
    const open = await each(3, connected)
    const late = await connected()

    expect(await statuses(late, 1)).toEqual([429])
    for (const socket of open) socket.write(head('GET', '/healthz'))
    for (const socket of open) expect(await statuses(socket, 1)).toEqual([200])
    for (const socket of open) socket.destroy()
    await expect.poll(async () => (await host.request('GET', '/healthz')).status).toBe(200)
  })

  test('has so many requests in progress', async () => {
    await start({ TILDE_ADDRESS_REQUESTS: '3', TILDE_PROXIES: '127.0.0.1' })
    const ask = (address: string) =>
      host.request('GET', '/~acme/events?since=now&wait=2', undefined, { 'x-forwarded-for': address })

    const replies = await Promise.all(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(ask))

    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429])
  })

  test('signs up so many times an hour', async () => {
    await start({ TILDE_SIGNUP: 'open', TILDE_PROXIES: '127.0.0.1' })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const signUp = (n: number, address: string) =>
      host.as('')('POST', `/~t${n}/api-keys`, { name: 'first' }, from(address))

    const replies = await each(300, (n) => signUp(n, '192.0.2.1'))
    const other = await signUp(1_000, '192.0.2.2')

    expect(replies.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect(new Set(replies.slice(10).map(({ status }) => status))).toEqual(new Set([429]))
    expect(replies.at(-1)!.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(other.status).toBe(201)
  })
})

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(host.url).port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

function head(method: string, path: string, ...more: string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: localhost', ...more].join('\r\n')}\r\n\r\n`
}

/** The statuses of the answers that come, until there are so many or the connection ends. */
async function statuses(socket: Socket, count: number): Promise<number[]> {
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if ((text.match(/HTTP\/1.1 \d+/g)?.length ?? 0) >= count) break
  }
  return [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status))
}

/** One after the other. */
async function each<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  for (let n = 0; n < count; n++) made.push(await work(n))
  return made
}

async function refusals(): Promise<Record<string, number>> {
  const { text } = await host.request('GET', '/metrics')
  const found = text.matchAll(/^tilde_refused_total\{reason="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, reason, count]) => [reason, Number(count)]))
}

async function bodyBytes(): Promise<number> {
  const { text } = await host.request('GET', '/metrics')
  return Number(/^tilde_body_bytes (\d+)$/m.exec(text)?.[1])
}
