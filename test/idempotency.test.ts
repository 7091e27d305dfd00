import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handleRequest } from '../packages/server/src/doors/app.ts'
import type { HttpRequest } from '../packages/server/src/doors/http.ts'
import { routes } from '../packages/server/src/doors/route-table.ts'
import { ask, KEY, startServer } from './faults/server.ts'
import { ROOT, type TestHost, testHost } from './host.ts'
import { openAcme } from './tenant/fixture.ts'
import { verifies } from './verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

/** A request for each POST there is; `:id` represents what `of` makes. */
const POSTS: {
  [route: string]: {
    readonly path?: string
    readonly of?: [string, object]
    readonly body?: object
    readonly headers?: Record<string, string>
    /** The scopes of the key that sends it; the operator's key when absent. */
    readonly scopes?: string
    /** Makes what the request is about, and returns its path. */
    readonly prepare?: () => Promise<string>
  }
} = {
  '/webhooks/:id/redeliver': { of: ['Webhook', { url: 'https://example.com/', events: ['*'] }] },
  '/webhooks/:id/rotate': { of: ['Webhook', { url: 'https://example.com/', events: ['*'] }] },
  '/webhooks/:id/test': { of: ['Webhook', { url: 'https://nobody.invalid/', events: ['*'] }] },
  '/Webhook/:id/redeliver': { of: ['Webhook', { url: 'https://example.com/', events: ['*'] }] },
  '/Webhook/:id/rotate': { of: ['Webhook', { url: 'https://example.com/', events: ['*'] }] },
  '/Webhook/:id/test': { of: ['Webhook', { url: 'https://nobody.invalid/', events: ['*'] }] },
  ...workflowPosts('workflows'),
  ...workflowPosts('Workflow'),
  '/changesets': { prepare: () => forked('/changesets'), body: { from: 'fork' } },
  '/Changeset': { prepare: () => forked('/Changeset'), body: { from: 'fork' } },
  '/schema/:type/rename': { prepare: () => declared('Renamed', '/rename'), body: { from: 'a', to: 'b' } },
  '/schema/:type/retype': { prepare: () => declared('Retyped', '/retype'), body: { field: 'a', to: 'number' } },
  '/schema/plan': { body: { types: { Planned: { a: 'string' } } } },
  '/events': { body: { name: 'signed_up', type: 'track' } },
  '/batch': { body: { operations: [{ id: 'a', method: 'POST', path: '/Contact', body: { name: 'Ada' } }] } },
  '/FeatureFlag/:id/evaluate': { of: ['FeatureFlag', { key: 'a', name: 'A' }], body: { userId: 'u' } },
  '/feature-flags/:id/evaluate': { of: ['FeatureFlag', { key: 'b', name: 'B' }], body: { userId: 'u' } },
  '/import/:type': { path: '/import/Contact', body: [{ name: 'Ada' }] },
  '/sync': { body: { changes: [] } },
  '/do': { body: { code: "await $.Contact.create({ name: 'Ada' })" } },
  '/undo/:correlation': { path: '/undo/mine' },
  '/import/history': { body: [{ type: 'Contact', verb: 'create', timestamp: '2001-01-01T00:00:00Z', data: {} }] },
  '/Integration/:id/connect': { of: ['Integration', { name: 'i', provider: 'other' }], body: {} },
  '/Integration/:id/sync': { prepare: connected },
  '/Integration/:id/stop': { of: ['Integration', { name: 'i', provider: 'other' }], body: {} },
  '/integrations/:id/stop': { of: ['Integration', { name: 'i', provider: 'other' }], body: {} },
  '/integrations/:id/connect': { of: ['Integration', { name: 'i', provider: 'other' }], body: {} },
  '/integrations/:id/sync': { prepare: connected },
  '/files': { body: { any: 'content' } },
  '/:type/:id/:field': { path: '/Asset/:id/file', of: ['Asset', { name: 'A' }], body: { any: 'content' } },
  '/asks/:id/answer': { prepare: asked, scopes: 'read:all,approve:own', body: { answer: 'Approved' } },
  '/inbox/email': { body: { any: 'content' }, headers: { 'content-type': 'message/rfc822' } },
  '/:type/:id/erase': { path: '/Contact/:id/erase', of: ['Contact', { name: 'Ada' }] },
  '/:type': { path: '/Contact', body: { name: 'Ada' } },
  '/:type/:id/:verb': { path: '/Contact/:id/enrich', of: ['Contact', { name: 'Ada' }] },
}

/** Declares a type, and returns a path of its schema. */
async function declared(type: string, action: string): Promise<string> {
  await host.request('PUT', `/~posts/schema/${type}`, { a: 'string' })
  return `/schema/${type}${action}`
}

/** Connects an integration, and returns the path of its sync. */
async function connected(): Promise<string> {
  const { body } = await host.request('POST', '/~posts/Integration', { name: 'i', provider: 'other' })
  await host.request('POST', `/~posts/Integration/${body.$id}/connect`, {})
  return `/Integration/${body.$id}/sync`
}

/** Lets a workflow ask, and returns the path of the answer. */
async function asked(): Promise<string> {
  const steps = [{ ask: { of: 'role:Admin', title: 'Well?' } }]
  const { body: made } = await host.request('POST', '/~posts/Workflow', { name: 'asks', steps })
  for (const verb of ['activate', 'trigger']) await host.request('POST', `/~posts/Workflow/${made.$id}/${verb}`)
  for (;;) {
    const { body } = await host.request('GET', '/~posts/asks')
    if (body.results[0]) return `/asks/${body.results[0].id}/answer`
    await new Promise((done) => setTimeout(done, 20))
  }
}

/** Makes a fork that differs, unless there is one, and returns the path. */
async function forked(path: string): Promise<string> {
  await host.request('POST', '/~posts/Contact', { name: 'Ada' })
  await host.request('POST', '/operator/tenants/posts/fork', { to: 'fork' })
  await host.request('POST', '/~fork/Contact', { name: 'Eve' })
  return path
}

function workflowPosts(path: string): typeof POSTS {
  const steps = [{ verb: 'update', type: 'Contact', id: 'contact_none', args: { title: 'x' } }]
  /** A run of a workflow that fails, at once or with a retry in an hour. */
  const run = async (action: string, state: string, more: object) => {
    const { body: made } = await host.request('POST', '/~posts/Workflow', { name: 'w', steps, ...more })
    for (const verb of ['activate', 'trigger']) await host.request('POST', `/~posts/Workflow/${made.$id}/${verb}`)
    for (;;) {
      const { body } = await host.request('GET', `/~posts/Workflow/${made.$id}/runs`)
      if (body.results[0]?.status === state) return `/${path}/${made.$id}/runs/${body.results[0].id}/${action}`
      await new Promise((done) => setTimeout(done, 20))
    }
  }
  return {
    [`/${path}/:id/runs/:run/retry`]: { prepare: () => run('retry', 'Failed', {}) },
    [`/${path}/:id/runs/:run/cancel`]: {
      prepare: () => run('cancel', 'Running', { retryPolicy: { retries: 1, backoff: '1h' } }),
    },
    [`/${path}/:id/test`]: {
      of: ['Workflow', { name: 'w', triggerEvent: 'Contact.created', steps }],
      body: { event: { type: 'Contact.created', data: {} } },
    },
  }
}

describe('every POST is done once per Idempotency-Key', () => {
  const posts = routes.all.filter(({ method }) => method === 'POST')

  test.each(posts.filter(({ repeats }) => !repeats).map(({ path }) => path))('%s', async (route) => {
    const { of, body, scopes, headers = {}, prepare, path = (await prepare?.()) ?? route } = POSTS[route]!
    const key = scopes && (await host.request('POST', '/~posts/ApiKey', { name: 'k', scopes })).body.secret
    const send = key ? host.as(key) : host.request
    const made = of && (await host.request('POST', `/~posts/${of[0]}`, of[1])).body
    if (route.startsWith('/undo')) {
      await host.request('POST', '/~posts/Contact', { name: 'Ada' }, { 'x-correlation-id': 'mine' })
    }
    const post = () =>
      send('POST', `/~posts${path.replace(':id', made?.$id)}`, body, {
        ...headers,
        'idempotency-key': `for ${route}`,
      })

    const first = await post()
    const second = await post()

    expect(first.status).toBeLessThan(300)
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(second.status).toBe(first.status)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual({ ...first.body, ...(first.body.secret && { secret: undefined }) })
  })

  test('but those that the documentation names, with a reason', () => {
    const docs = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8')

    const named = [
      '/mcp',
      '/session',
      '/invitation',
      '/oauth',
      '/account/passkeys',
      '/uploads',
      '/:type/:id/:field',
      '/Integration/:id/preview',
      '/integrations/:id/preview',
      '/decide',
    ]
    const others = posts.filter(({ repeats, path }) => repeats && !named.some((one) => path.startsWith(one)))
    expect(others).toEqual([])
    expect(docs).toContain('These endpoints ignore the key:\n\n- `/~{tenant}/mcp`')
    expect(docs).toContain('(`session`, `invitation`, `oauth`, `account/passkeys`)')
    expect(docs).toContain('- `/uploads`')
    expect(docs).toContain('`/link` of a file and `/preview` of an Integration')
    expect(docs).toContain('- `/decide`')
  })
})

describe('code with an Idempotency-Key', () => {
  const run = (tenant: string, code: string) =>
    host.request('POST', `/~${tenant}/do`, { code }, { 'idempotency-key': 'run', 'x-correlation-id': 'my-run' })

  test('that failed after it had written is not run again', async () => {
    const code = "await $.Contact.create({ name: 'Half' }); throw new Error('then it broke')"
    const first = await run('half', code)
    const second = await run('half', code)

    expect(first).toMatchObject({ status: 422, body: { error: 'script_error', correlation: 'my-run' } })
    expect(second).toMatchObject({ status: 422, body: first.body })
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect((await host.request('GET', '/~half/Contact/count')).body.count).toBe(1)
    expect((await host.request('POST', '/~half/undo/my-run')).body.undone).toBe(1)
  })

  test('that failed and wrote nothing may be run again', async () => {
    const code = "if (await $.Contact.count() === 0) throw new Error('not yet'); 'fine'"
    // What is kept of a tenant without any event goes with the request.
    await host.request('POST', '/~again/Organization', { name: 'Acme' })
    expect((await run('again', code)).status).toBe(422)
    await host.request('POST', '/~again/Contact', { name: 'Ada' })

    expect(await run('again', code)).toMatchObject({ status: 200, body: { result: 'fine' } })
  })

  test('is refused while the first is in progress', async () => {
    const code = 'for (let i = 0; i < 1e7; i++); 1'
    let errors: string[] = []
    // On a busy machine the second may come after the end of the first.
    for (let i = 0; !errors.includes('in_flight'); i++) {
      const replies = await Promise.all([run(`busy-${i}`, code), run(`busy-${i}`, code)])
      errors = replies.map(({ body }) => body.error)
    }

    expect(errors.filter((error) => error === 'in_flight')).toHaveLength(1)
  })
})

describe('an Idempotency-Key', () => {
  const send = (key: string, body: unknown, path = '/~acme/Contact') =>
    host.request('POST', path, body, { 'idempotency-key': key })

  verifies('idempotency.replay', 'replays the first answer to the same request, and says so', async () => {
    const first = await send('a', { name: 'Ada' })
    const second = await send('a', { name: 'Ada' })

    expect(second).toMatchObject({ status: 201, text: first.text })
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect((await host.request('GET', '/~acme/Contact/count?name=Ada')).body.count).toBe(1)
  })

  test('holds among requests that come at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => send('crowd', { name: 'Crowd' })))

    expect(new Set(replies.map(({ body }) => body.$id)).size).toBe(1)
    expect(replies.filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(19)
  })

  verifies('idempotency.mismatch', 'with another body is a mismatch', async () => {
    await send('b', { name: 'one' })

    expect(await send('b', { name: 'two' })).toMatchObject({ status: 422, body: { error: 'idempotency_mismatch' } })
  })

  test.each([
    ['query', '?upsert=email', [{ name: 'one' }]],
    ['length of a body that streams by', '', [{ name: 'another' }]],
    ['body of the same length that streams by', '', [{ name: 'two' }]],
  ])('with another %s is a mismatch', async (what, query, body) => {
    await send(what, [{ name: 'one' }], '/~acme/import/Contact')

    expect((await send(what, body, `/~acme/import/Contact${query}`)).body.error).toBe('idempotency_mismatch')
  })

  test('with a body that streams by without a length, and is the first body or another one', async () => {
    const path = '/~streams/import/Contact'
    const stream = async (...names: string[]) => {
      const rows = names.map((name) => `{"name":"${name}"}\n`)
      const init = {
        method: 'POST',
        headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/x-ndjson', 'idempotency-key': 's' },
        body: (async function* () {
          for (const row of rows) yield new TextEncoder().encode(row)
        })(),
        duplex: 'half',
      } as unknown as RequestInit
      const response = await fetch(`${host.url}${path}`, init)
      return [response.status, response.headers.has('idempotency-replayed')]
    }

    expect(await stream('Ada', 'Bob')).toEqual([200, false])
    expect(await stream('Ada', 'Bob')).toEqual([200, true])
    for (const other of [['Ada', 'Eve'], ['Ada'], ['Ada', 'Bob', 'Eve'], []])
      expect([other, await stream(...other)]).toEqual([other, [422, false]])
    expect((await host.request('GET', '/~streams/Contact/count')).body.count).toBe(2)
  })

  test('of an import that failed after its first rows replays the error, for these rows only', async () => {
    const rows = (name: string) => Array.from({ length: 1_000 }, () => ({ name: name.repeat(1_000) }))
    const sent = (name: string) =>
      send('t', `${JSON.stringify(rows(name)).slice(0, -1)}, nonsense]`, '/~failed/import/Contact')
    const first = await sent('a')
    const second = await sent('a')

    expect([first.status, first.body.error, first.body.imported]).toEqual([400, 'invalid_json', expect.any(Number)])
    expect(first.body.imported).toBeGreaterThan(0)
    expect([second.text, second.headers.has('idempotency-replayed')]).toEqual([first.text, true])
    expect((await sent('b')).body.error).toBe('idempotency_mismatch')
  })

  verifies('idempotency.owner', 'belongs to one key, method and path', async () => {
    const other = await host.key('acme', 'write:all')
    await send('c', { name: 'one' })

    expect((await send('c', { subject: 'x' }, '/~acme/Ticket')).status).toBe(201)
    const theirs = await host.as(other)('POST', '/~acme/Contact', { name: 'theirs' }, { 'idempotency-key': 'c' })
    expect(theirs.status).toBe(201)
    expect(theirs.headers.has('idempotency-replayed')).toBe(false)
  })

  verifies('idempotency.secret', 'replays the creation of a key without its secret', async () => {
    const first = await send('d', { name: 'k' }, '/~acme/api-keys')
    const second = await send('d', { name: 'k' }, '/~acme/api-keys')

    expect(first.body.secret).toMatch(/^tb_/)
    expect(second.body).toMatchObject({ $id: first.body.$id, keyPrefix: first.body.keyPrefix })
    expect(second.text).not.toContain('secret')
  })

  test('of a request that was refused is free to be used again', async () => {
    expect((await send('e', { name: 1 })).status).toBe(422)
    expect((await send('e', { name: 'fine' })).status).toBe(201)
  })

  test('holds for verbs and imports', async () => {
    const { body: contact } = await host.request('POST', '/~acme/Contact', { name: 'V' })
    const path = `/~acme/Contact/${contact.$id}/enrich`
    await send('f', {}, path)

    expect((await send('f', {}, path)).body.$version).toBe(2)
    const first = await send('g', [{ name: 'i1' }, { name: 'i2' }], '/~bulk/import/Contact')
    const second = await send('g', [{ name: 'i1' }, { name: 'i2' }], '/~bulk/import/Contact')
    expect(second).toMatchObject({ status: first.status, text: first.text })
    expect((await host.request('GET', '/~bulk/Contact/count')).body.count).toBe(2)
  })

  test('of a request that takes its time is refused until that is done', async () => {
    let slow = slowImport()
    for (;;) {
      // This one is refused, so it has the key for a moment only. The slow one may come in that moment.
      const { body } = await host.request('POST', '/~slow/import/Contact', '[{', { 'idempotency-key': 'h' })
      if (body.error === 'in_flight') break
      if (slow.isOver) slow = slowImport()
    }
    slow.release()

    expect(await (await slow.answer).json()).toMatchObject({ imported: 1 })
  })

  /** An import whose body does not end before it is released. */
  function slowImport() {
    let release = () => {}
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('[{"name": "s1"}'))
        await new Promise<void>((done) => {
          release = done
        })
        controller.enqueue(new TextEncoder().encode(']'))
        controller.close()
      },
    })
    const headers = {
      authorization: `Bearer ${ROOT}`,
      'content-type': 'application/json',
      'idempotency-key': 'h',
    }
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const answer = fetch(`${host.url}/~slow/import/Contact`, init)
    const slow = { answer, release: () => release(), isOver: false }
    answer.then(
      () => (slow.isOver = true),
      () => (slow.isOver = true),
    )
    return slow
  }

  test('is 1 to 255 characters', async () => {
    const statuses = await Promise.all(
      [0, 1, 255, 256].map(async (n) => (await send('x'.repeat(n), { name: 'x' })).status),
    )

    expect(statuses).toEqual([400, 201, 201, 400])
  })

  verifies('idempotency.expiry', 'is free again after 24 hours', async () => {
    const { tenant, clock } = openAcme()
    const place = { tenant: 'acme', dimensions: [], segments: ['Contact'], baseUrl: 'http://localhost' }
    const body = new TextEncoder().encode('{"name": "Ada"}')
    const asked: HttpRequest = {
      method: 'POST',
      scheme: 'http',
      host: 'localhost',
      path: '/~acme/Contact',
      query: '',
      headers: { 'idempotency-key': 'day' },
      body,
    }
    const id = async () => {
      const options = { routes, signup: false, report: () => {} }
      const sender = { kind: 'operator' } as const
      const call = { slug: 'acme', request: asked, target: place, sender, requestId: 'r' }
      return JSON.parse(String((await handleRequest(tenant.facade, call, options)).body)).$id
    }

    const first = await id()
    clock.at += 86_399_999
    expect(await id()).toBe(first)
    clock.at += 1
    expect(await id()).not.toBe(first)
  })

  test('is remembered through kill -9: what was answered is not done twice', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-once-'))
    const first = await startServer(data)
    const made = await ask(first.url, 'POST', '/~acme/Contact', { name: 'Ada' }, { 'idempotency-key': 'k' })
    await first.kill()
    const second = await startServer(data)
    const again = await ask(second.url, 'POST', '/~acme/Contact', { name: 'Ada' }, { 'idempotency-key': 'k' })
    const count = await ask(second.url, 'GET', '/~acme/Contact/count')
    await second.kill()
    rmSync(data, { recursive: true, force: true })

    expect(again!.body).toEqual({ ...made!.body, $context: again!.body.$context })
    expect(count!.body.count).toBe(1)
  })

  test('refuses what kill -9 cut off, and tells how far it came', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-once-'))
    const first = await startServer(data)
    const send = (url: string, body: BodyInit) =>
      fetch(`${url}/~acme/import/Contact`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/x-ndjson', 'idempotency-key': 'k' },
        body,
        duplex: 'half',
      } as RequestInit)
    let go = () => {}
    const forever = new Promise<void>((done) => {
      go = done
    })
    const rows = (end: () => unknown) =>
      new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode('{"name":"Ada"}\n'.repeat(600))),
        pull: async (stream) => {
          await end()
          stream.close()
        },
      })
    const cut = send(
      first.url,
      rows(() => forever),
    ).catch(() => null)
    const count = async (url: string) => (await ask(url, 'GET', '/~acme/Contact/count'))!.body.count
    while ((await count(first.url)) === 0);
    await first.kill()
    go()
    await cut
    const second = await startServer(data)
    const again = await send(
      second.url,
      rows(() => {}),
    )
    const refused = await again.json()
    const there = await count(second.url)
    await second.kill()
    rmSync(data, { recursive: true, force: true })

    expect(again.status).toBe(409)
    expect(refused).toMatchObject({ error: 'conflict', field: 'Idempotency-Key', rows: there, imported: there })
  })
})
