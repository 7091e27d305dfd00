import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '@tildebase/nouns'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { tildebase } from '../tildebase.ts'
import { wireTo } from './wire.ts'

type Act = (request: IncomingMessage, response: ServerResponse) => void

/** A server that follows a script, one step per request, and records the requests. */
let script: Act[]
let seen: { method: string; url: string; key: string | undefined; last: string | undefined }[]
let server: Server
let baseUrl: string

beforeEach(async () => {
  script = []
  seen = []
  server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    seen.push({ method, url, key: headers['idempotency-key'] as string, last: headers['last-event-id'] as string })
    request.resume().on('end', () => (script.shift() ?? ok)(request, response))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const client = (options = {}) => tildebase({ tenant: 'acme', apiKey: 'tb_x', baseUrl, ...options })
const answer = (status: number, body: unknown, headers = {}): Act => {
  return (_, response) => void response.writeHead(status, headers).end(JSON.stringify(body))
}
const ok = answer(200, { $id: 'contact_1', name: 'Ada' })
const drop: Act = (request) => void request.socket.destroy()
const halfway: Act = (_, response) => {
  response.writeHead(200, { 'content-length': 1_000 }).write('{"$id":')
  response.socket!.destroySoon()
}
const busy = answer(503, { error: 'busy', message: 'Come back later.' }, { 'retry-after': '0' })
const limited = answer(429, { error: 'rate_limited', message: 'Too many.' }, { 'retry-after': '0' })

describe('a request that failed is sent again', () => {
  test('when the connection broke, when the answer broke off, and when the server put it off', async () => {
    script = [drop, halfway, busy, limited]

    expect((await client().Contact.get('contact_1'))?.name).toBe('Ada')
    expect(seen).toHaveLength(5)
  })

  test('with the same Idempotency-Key, so that it is done once', async () => {
    script = [drop, busy]
    const $ = client()

    await $.Contact.create({ name: 'Ada' })
    await $.Contact.update('contact_1', { title: 'x' })

    const [a, b, c, other] = seen.map(({ key }) => key)
    expect(a).toEqual(expect.stringMatching(/^[0-9a-f]{32}$/))
    expect([b, c]).toEqual([a, a])
    expect(other).not.toBe(a)
    expect(seen.every(({ method }) => method === 'POST')).toBe(true)
  })

  test('but not without limit', async () => {
    script = Array(10).fill(busy)

    await expect(client({ retries: 2 }).Contact.count()).rejects.toMatchObject({ code: 'busy', about: { status: 503 } })
    expect(seen).toHaveLength(3)
  })

  test('and not when it was refused', async () => {
    script = [answer(422, { error: 'validation_error', message: 'No.', field: 'name', requestId: 'r' })]
    const refused = client().Contact.create({ name: '' })

    await expect(refused).rejects.toBeInstanceOf(Problem)
    await expect(refused).rejects.toMatchObject({ code: 'validation_error', message: 'No.', about: { field: 'name' } })
    expect(seen).toHaveLength(1)
  })

  test('and not code that may already have run', async () => {
    script = [drop, drop]

    await expect(client().do('1 + 1')).rejects.toMatchObject({ code: 'unreachable' })
    expect(seen).toHaveLength(1)
  })
})

test('an unreachable server is reported in one sentence', async () => {
  await new Promise((done) => server.close(done))

  await expect(client({ retries: 0 }).Contact.count()).rejects.toMatchObject({
    code: 'unreachable',
    message: `${baseUrl} cannot be reached (ECONNREFUSED). Is the server running there?`,
  })
})

test('an unknown answer is reported with its status', async () => {
  script = [(_, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>')]

  await expect(client().Contact.count()).rejects.toMatchObject({ code: 'unexpected_answer', about: { status: 502 } })
})

test('a signal ends a request and its retries', async () => {
  script = Array(1_000).fill(drop)

  await expect(client({ retries: 1_000 }).Contact.find({}, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
})

describe('a write that the service continues as a task', () => {
  const task = (state: string, status = 200, more = {}) =>
    answer(
      status,
      { id: 'task_1', title: 'undo', state, progress: 1, total: 2, result: { status: 200 }, error: null, ...more },
      { location: '/~acme/tasks/task_1' },
    )
  const begun = task('running', 202)

  test('is waited for, with its progress, and gives the answer that it would have given at once', async () => {
    script = [begun, task('running'), task('done'), answer(200, { undone: 3 })]
    const states: string[] = []

    const answered = await client({ onTask: ({ state }: { state: string }) => states.push(state) }).undo('c')

    expect(answered).toEqual({ undone: 3 })
    expect(states).toEqual(['running', 'running', 'done'])
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /~acme/undo/c',
      'GET /~acme/tasks/task_1',
      'GET /~acme/tasks/task_1',
      'POST /~acme/undo/c',
    ])
    expect(seen[3]!.key).toBe(seen[0]!.key)
  })

  test('is not sent again where that would be another write: what is kept of it is the answer', async () => {
    const $ = client()
    const dryRun = { body: {}, query: { dryRun: true } }
    for (const write of [() => $.request('DELETE', '/schema/Car'), () => $.request('POST', '/undo/c', dryRun)]) {
      script = [begun, task('done')]
      seen = []

      expect(await write()).toEqual({ status: 200 })
      expect(seen).toHaveLength(2)
    }
  })

  test('fails with the problem of the task', async () => {
    script = [begun, task('failed', 200, { error: { code: 'validation_error', message: 'No.' } })]

    await expect(client().undo('c')).rejects.toMatchObject({ code: 'validation_error', about: { task: 'task_1' } })
  })

  test('is left alone if the caller asks for that', async () => {
    script = [begun]

    expect(await client({ waitForTasks: false }).undo('c')).toMatchObject({ id: 'task_1', state: 'running' })
    expect(seen).toHaveLength(1)
  })
})

describe('a stream of events', () => {
  const events = (...seqs: number[]): Act => {
    return (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const seq of seqs) response.write(`id: ${seq}\nevent: x\ndata: {"seq":${seq}}\n\n`)
      response.write(': alive\n\nid: 99\ndata: {"seq"')
      setTimeout(() => response.socket!.destroy(), 5)
    }
  }

  test('continues after the last event it saw when the connection breaks', async () => {
    script = [events(1, 2), drop, events(), busy, events(3), events(4)]
    const stop = new AbortController()
    const got: number[] = []

    for await (const { seq } of client().events.stream({ since: '2026-01-01', signal: stop.signal })) {
      got.push(seq)
      if (seq === 4) stop.abort()
    }

    expect(got).toEqual([1, 2, 3, 4])
    expect(seen.map(({ last }) => last)).toEqual([undefined, '2', '2', '2', '2', '3'])
    expect(seen.map(({ url }) => url.includes('since'))).toEqual([true, false, false, false, false, false])
  })

  test('reports when it is connected and when the connection is lost', async () => {
    script = [events(1), events(2)]
    const stop = new AbortController()
    const told: boolean[] = []
    const onConnection = (isConnected: boolean) => told.push(isConnected)

    for await (const { seq } of client().events.stream({ signal: stop.signal, onConnection })) {
      if (seq === 2) stop.abort()
    }

    expect(told).toEqual([true, false, true])
  })

  test('ends with the problem when the key is no longer valid', async () => {
    script = [events(1), answer(401, { error: 'unauthorized', message: 'No.' })]
    const stream = client().events.stream()

    expect((await stream.next()).value).toEqual({ seq: 1 })
    await expect(stream.next()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('is not mistaken for a page', async () => {
    await expect(client().events.stream().next()).rejects.toMatchObject({ code: 'unexpected_answer' })
  })
})

test.each([
  ['a line break', 'tb_hushhush~acme\n', 'has a line break in it'],
  ['a space', 'tb_hush hush~acme', 'has a space or a letter in it that no key has'],
  ['a letter of no header', 'tb_hushhúsh~acme', 'has a space or a letter in it that no key has'],
  ['nothing', '', 'is missing'],
])('a key with %s in it is refused without showing it', (_, apiKey, sentence) => {
  let refusal: unknown
  try {
    client({ apiKey })
  } catch (reason) {
    refusal = reason
  }

  expect(refusal).toMatchObject({ code: 'invalid_key', message: expect.stringContaining(sentence) })
  expect(`${(refusal as Error).stack}${JSON.stringify(refusal)}`).not.toContain('hush')
  expect(seen).toEqual([])
})

test.each([
  ['', 'not an empty text'],
  ['localhost:8787', 'not localhost:8787'],
  ['ftp://localhost', 'not ftp://localhost'],
])('the address %j is refused before anything is sent', (baseUrl, sentence) => {
  const message = `baseUrl must be a URL such as http://localhost:8787, ${sentence}.`

  expect(() => wireTo({ baseUrl, apiKey: 'tb_x' })).toThrow(message)
})

test('in a browser the address may be relative to the page', () => {
  vi.stubGlobal('location', { href: 'https://tilde.example/console' })
  onTestFinished(() => void vi.unstubAllGlobals())

  expect(wireTo({ baseUrl: '', apiKey: 'tb_x' }).baseUrl).toBe('')
})
