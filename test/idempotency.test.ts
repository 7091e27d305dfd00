import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Commits } from '@tildebase/tenant'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answer } from '../packages/server/src/app.ts'
import type { Ask } from '../packages/server/src/ask.ts'
import { routes } from '../packages/server/src/table.ts'
import { ask, startServer } from './faults/server.ts'
import { type TestHost, testHost } from './host.ts'
import { openAcme } from './tenant/fixture.ts'
import { verifies } from './verifies.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

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
    let release = () => {}
    const slow = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('[{"name": "s1"}'))
        await new Promise<void>((done) => {
          release = done
        })
        controller.enqueue(new TextEncoder().encode(']'))
        controller.close()
      },
    })
    const first = fetch(`${host.url}/~slow/import/Contact`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer root-key-of-the-tests',
        'content-type': 'application/json',
        'idempotency-key': 'h',
      },
      body: slow,
      duplex: 'half',
    } as RequestInit)
    await expect
      .poll(async () => (await send('h', [{ name: 's1' }], '/~slow/import/Contact')).body?.error)
      .toBe('in_flight')
    release()

    expect(await (await first).json()).toMatchObject({ imported: 1 })
  })

  test('is 1 to 255 characters', async () => {
    expect((await send('x'.repeat(256), { name: 'long' })).status).toBe(400)
  })

  verifies('idempotency.expiry', 'is free again after 24 hours', async () => {
    const { tenant, clock } = openAcme()
    const open = { tenant, commits: new Commits(tenant, setImmediate) }
    const place = { tenant: 'acme', dimensions: [], segments: ['Contact'], baseUrl: 'http://localhost' }
    const body = new TextEncoder().encode('{"name": "Ada"}')
    const asked: Ask = {
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
      return JSON.parse(String((await answer(open, asked, place, { kind: 'operator' }, 'r', options)).body)).$id
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
})
