import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { needs, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sent = (...args: Parameters<TestHost['request']>) => host.request(...args)

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

describe('a tenant', () => {
  verifies(
    ['tenant.absent.read', 'tenant.absent.disk'],
    'that does not exist reads as empty and leaves nothing on disk',
    async () => {
      const list = await sent('GET', '/~absent/Contact')
      const one = await sent('GET', '/~absent/Contact/contact_x')
      const schema = await sent('GET', '/~absent/schema')

      expect([list.status, list.body]).toEqual([200, { results: [], total: 0, hasMore: false, cursor: null }])
      expect(one.status).toBe(404)
      expect(schema.body.total).toBeGreaterThanOrEqual(36)
      expect(await host.tenants()).not.toContain('absent')
    },
  )

  verifies(
    ['tenant.implicit', 'tenant.absent.write', 'tenant.path'],
    'is made by its first write, and by no write that was refused',
    async () => {
      const refused = await sent('POST', '/~young/Contact', {})
      const before = await host.tenants()
      const made = await sent('POST', '/~young/Contact', { name: 'Ada' })

      expect(refused.status).toBe(422)
      expect(before).not.toContain('young')
      expect(made.status).toBe(201)
      expect(await host.tenants()).toContain('young')
    },
  )

  verifies(['tenant.isolation', 'tenant.entity.one'], 'sees nothing of another', async () => {
    const { body } = await sent('POST', '/~one/Contact', { name: 'Ada', email: 'x@y.z' })

    const read = await sent('GET', `/~two/Contact/${body.$id}`)
    const change = await sent('PUT', `/~two/Contact/${body.$id}`, { name: 'Eve' })
    const twin = await sent('POST', '/~two/Contact', { name: 'Bob', email: 'x@y.z' })

    expect([read.status, change.status, twin.status]).toEqual([404, 404, 201])
    expect((await sent('GET', '/~one/Contact')).body.total).toBe(1)
  })

  test.each([
    '..',
    '.',
    'A',
    'a_b',
    '-a',
    'a-',
    'a'.repeat(64),
    'ä',
    'a%2e%2e',
    '%2e%2e%2f',
    'a%00',
    'x'.repeat(3_000),
    'a b',
    '',
  ])('named %j is refused with 400 and touches no file', async (slug) => {
    const before = await host.tenants()
    const { status, body } = await sent('POST', `/~${slug}/Contact`, { name: 'x' })

    expect([status, body.error]).toEqual([400, 'invalid_tenant'])
    expect(await host.tenants()).toEqual(before)
  })

  verifies(
    ['slug.form', 'slug.invalid', 'slug.files'],
    'has a slug of 1 to 63 lower-case letters, digits and inner hyphens',
    async () => {
      const good = await Promise.all(
        ['a', '0', 'a-b', 'a'.repeat(63)].map((slug) => sent('POST', `/~${slug}/Contact`, { name: 'x' })),
      )
      const bad = await sent('GET', '/~A.B/Contact')

      expect(good.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      expect([bad.status, bad.body.error]).toEqual([400, 'invalid_tenant'])
      expect(await host.tenants()).toContain('a')
    },
  )
})

describe('the operator', () => {
  const stock = async (tenant: string) => {
    await sent('POST', `/~${tenant}/Contact`, { name: 'Ada', email: 'a@b.c' })
    const { body } = await sent('POST', `/~${tenant}/Contact`, { name: 'Bob', email: 'b@b.c' })
    return body
  }

  test('lists tenants, and tells their size and counts', async () => {
    await stock('stocked')

    const list = await sent('GET', '/operator/tenants')
    const info = await sent('GET', '/operator/tenants/stocked')

    expect(list.body.results.map((one: any) => one.tenant)).toContain('stocked')
    expect(info.body).toMatchObject({ tenant: 'stocked', events: 2, entities: { Contact: 2 } })
  })

  test.each([
    ['POST', '/operator/tenants', { tenant: 'odd', asOf: null }, 'asOf'],
    ['POST', '/operator/tenants/stocked/fork', { to: 'odd', asof: '2026-01-01T00:00:00Z' }, 'asof'],
  ])('gets a refusal from %s %s for a member that it does not have', async (method, path, body, field) => {
    await stock('stocked')

    const reply = await sent(method, path, body)

    expect([reply.status, reply.body.error, reply.body.field]).toEqual([400, 'invalid_body', field])
    expect(await host.tenants()).not.toContain('odd')
  })

  test.each([
    'tenants?cursor=../x',
    'tenants?cursor=%00',
    'tenants?cursor=UPPER',
    'log?cursor=x',
    'log?cursor=-1',
    'log?cursor=1e999',
  ])('gets 400 for %s', async (path) => {
    await stock('stocked')

    const { status, body } = await sent('GET', `/operator/${path}`)

    expect([status, body.error, body.field]).toEqual([400, 'invalid_cursor', 'cursor'])
  })

  test('forks a tenant as of a moment, and both continue apart', async () => {
    const bob = await stock('origin')
    await nextMillisecond()
    await sent('PUT', `/~origin/Contact/${bob.$id}`, { email: 'new@b.c' })
    await sent('DELETE', `/~origin/Contact/${bob.$id}`)

    const fork = await sent('POST', '/operator/tenants/origin/fork', { to: 'branch', asOf: bob.$updatedAt })
    const there = await sent('GET', '/~branch/Contact?email=b@b.c')
    const verdict = await sent('GET', '/operator/tenants/branch/verify')
    const grown = await sent('POST', '/~branch/Contact', { name: 'Eve', email: 'new@b.c' })

    expect([fork.status, fork.body.events]).toEqual([201, 2])
    expect(there.body.results).toMatchObject([{ $id: bob.$id, name: 'Bob', $version: 1 }])
    expect(verdict.body).toMatchObject({ ok: true, events: 2 })
    expect(grown.status).toBe(201)
    expect((await sent('GET', '/~origin/Contact')).body.total).toBe(1)
  })

  test('forks a tenant as of an event or a relative time', async () => {
    const bob = await stock('numbered')
    await sent('PUT', `/~numbered/Contact/${bob.$id}`, { email: 'new@b.c' })

    const forks = []
    for (const [to, asOf] of [
      ['at-one', '1'],
      ['at-two', 2],
      ['at-now', 'now'],
      ['at-end', 999],
    ] as const)
      forks.push(await sent('POST', '/operator/tenants/numbered/fork', { to, asOf }))
    const wrong = await sent('POST', '/operator/tenants/numbered/fork', { to: 'odd', asOf: 'noon' })

    expect(forks.map(({ status, body }) => [status, body.events])).toEqual([
      [201, 1],
      [201, 2],
      [201, 3],
      [201, 3],
    ])
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_as_of'])
  })

  test('restores a backup into a new tenant that is equal, and never over another', async () => {
    needs('file of a tenant: its backup is a log')
    await stock('kept')
    const backup = await fetch(`${host.url}/operator/tenants/kept/backup`, {
      headers: { authorization: 'Bearer root-key-of-the-tests-which-is-long-enough' },
    })
    const bytes = new Uint8Array(await backup.arrayBuffer())

    const restored = await sent('PUT', '/operator/tenants/kept-again/restore', bytes)
    const twice = await sent('PUT', '/operator/tenants/kept-again/restore', bytes)
    const broken = await sent('PUT', '/operator/tenants/broken/restore', bytes.slice(0, 20_000))
    const [a, b] = await Promise.all(
      ['kept', 'kept-again'].map((slug) => sent('GET', `/operator/tenants/${slug}/verify`)),
    )

    expect([restored.status, twice.status, broken.status]).toEqual([201, 409, 422])
    expect(b!.body.head).toEqual(a!.body.head)
    expect(b!.body.ok).toBe(true)
  })

  test('gets 422 for a backup that lacks a table', async () => {
    needs('file of a tenant: its backup is a log')
    await stock('kept-in-part')
    const path = join(mkdtempSync(join(tmpdir(), 'tildebase-')), 'acme.db')
    const authorization = 'Bearer root-key-of-the-tests-which-is-long-enough'
    const backup = await fetch(`${host.url}/operator/tenants/kept-in-part/backup`, { headers: { authorization } })
    writeFileSync(path, new Uint8Array(await backup.arrayBuffer()))
    const db = new DatabaseSync(path)
    db.exec('DROP TABLE timers')
    db.close()

    const { status, body } = await sent('PUT', '/operator/tenants/part/restore', new Uint8Array(readFileSync(path)))
    rmSync(dirname(path), { recursive: true })

    expect([status, body.error]).toEqual([422, 'validation_error'])
    expect(body.message).toContain('no table timers')
    expect(await host.tenants()).not.toContain('part')
  })

  test('deletes a tenant whole', async () => {
    await stock('doomed')

    const { status } = await sent('DELETE', '/operator/tenants/doomed')

    expect(status).toBe(204)
    expect(await host.tenants()).not.toContain('doomed')
    expect((await sent('GET', '/~doomed/Contact')).body.total).toBe(0)
  })

  test('is the only caller that may do this', async () => {
    const key = await host.key('acme', 'admin:all')

    expect((await host.as(key)('GET', '/operator/tenants')).status).toBe(403)
    expect((await host.as('')('GET', '/operator/tenants')).status).toBe(401)
  })
})

test('several requests at once that only read a tenant, or are refused, leave none behind', async () => {
  const reads = [{ path: '/Contact', method: 'GET' }]
  const replies = await Promise.all([
    host.request('POST', '/~passing/batch', { operations: reads }),
    host.request('POST', '/~passing/do', { code: 'await $.Contact.find({})' }),
    host.request('GET', '/~passing/Contact'),
    host.request('POST', '/~passing/Contact', { stage: 'Nowhere' }),
  ])

  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 422])
  expect(await host.tenants()).not.toContain('passing')
})
