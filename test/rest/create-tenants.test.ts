import { readSettings } from '@tildebase/server'
import { afterEach, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
afterEach(() => app?.stop())

test('--create-tenants beats TILDE_CREATE_TENANTS, and is write or operator', () => {
  expect(readSettings({}, {}).createTenants).toBe('write')
  expect(readSettings({}, { TILDE_CREATE_TENANTS: 'operator' }).createTenants).toBe('operator')
  expect(readSettings({ 'create-tenants': 'write' }, { TILDE_CREATE_TENANTS: 'operator' }).createTenants).toBe('write')
  expect(() => readSettings({ 'create-tenants': 'all' }, {})).toThrow('--create-tenants is write or operator, not all.')
})

describe('with --create-tenants=operator', () => {
  const start = async (env: Record<string, string> = {}, workers = '0') => {
    app = await testApp(env, { 'create-tenants': 'operator', workers })
  }

  test.each(['0', '1'])('a slug is unknown until the operator creates its tenant (--workers %s)', async (workers) => {
    await start({}, workers)

    const unknown = [
      await app.request('POST', '/~acme/Contact', { name: 'Ada' }),
      await app.request('PUT', '/~acme/Contact/contact_1', { name: 'Ada' }),
      await app.request('POST', '/~acme/import/Contact', '{"name":"Ada"}', { 'content-type': 'application/x-ndjson' }),
      await app.request('GET', '/~acme/Contact'),
    ]
    const before = await app.request('GET', '/operator/tenants')
    const created = await app.request('POST', '/operator/tenants', { tenant: 'acme' })
    const twice = await app.request('POST', '/operator/tenants', { tenant: 'acme' })
    const empty = await app.request('GET', '/~acme/Contact')
    const written = await app.request('POST', '/~acme/Contact', { name: 'Ada' })
    const log = await app.request('GET', '/operator/log')

    expect(unknown.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([404, 'unknown_tenant']))
    expect(before.body.total).toBe(0)
    expect([created.status, created.body]).toEqual([201, { tenant: 'acme' }])
    expect(twice.status).toBe(409)
    expect([empty.status, empty.body.total, written.status]).toEqual([200, 0, 201])
    expect(log.body.results).toMatchObject([{ action: 'create', tenant: 'acme' }])
  })

  test('a write that is refused does not remove a tenant that was created on purpose', async () => {
    await start()
    await app.request('POST', '/operator/tenants', { tenant: 'acme' })

    const refused = await app.request('POST', '/~acme/Contact', {})

    expect(refused.status).toBe(422)
    expect((await app.request('GET', '/operator/tenants')).body.total).toBe(1)
  })

  test('sign-up creates a tenant, and does not take over one that the operator created', async () => {
    await start({ TILDE_SIGNUP: 'open' })
    await app.request('POST', '/operator/tenants', { tenant: 'taken' })

    const taken = await app.as('')('POST', '/~taken/api-keys', { name: 'first' })
    const fresh = await app.as('')('POST', '/~fresh/api-keys', { name: 'first' })
    const written = await app.as(fresh.body.secret)('POST', '/~fresh/Contact', { name: 'Ada' })

    expect([taken.status, fresh.status, written.status]).toEqual([401, 201, 201])
  })

  test('a restore and a fork create their tenant', async () => {
    await start()
    await app.request('POST', '/operator/tenants', { tenant: 'acme' })
    await app.request('POST', '/~acme/Contact', { name: 'Ada' })
    const { text } = await app.request('GET', '/operator/tenants/acme/log')

    const restored = await app.request('PUT', '/operator/tenants/restored/log', text)
    const forked = await app.request('POST', '/operator/tenants/acme/fork', { to: 'forked' })

    expect([restored.status, forked.status]).toEqual([201, 201])
    expect((await app.request('GET', '/~forked/Contact')).body.total).toBe(1)
  })

  test.each([{}, { tenant: 'Not A Slug' }, { tenant: 7 }])('%j names no tenant', async (body) => {
    await start()

    expect((await app.request('POST', '/operator/tenants', body)).status).toBe(400)
  })
})
