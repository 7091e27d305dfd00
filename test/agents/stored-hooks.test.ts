import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type HookHost, hookHost } from './hook-host.ts'

let host: TestHost
let tenantWith: HookHost['tenantWith']
beforeAll(async () => {
  ;({ host, tenantWith } = await hookHost())
})
afterAll(() => host.stop())

describe('hooks as data', () => {
  verifies(['hook.put', 'hook.code'], 'a hook is stored, read, listed, replaced and taken away', async () => {
    const { request } = await tenantWith({})
    const put = (code: string) => request('PUT', '/schema/contacts/hooks/creating', { code })

    expect((await put('(contact) => ({ title: "a" })')).status).toBe(201)
    expect((await put('(contact) => ({ title: "b" })')).status).toBe(200)
    expect((await request('GET', '/schema/Contact/hooks/creating')).body).toEqual({
      type: 'Contact',
      name: 'creating',
      runs: 'before',
      code: '(contact) => ({ title: "b" })',
      version: 2,
      failures: [],
    })
    expect((await request('GET', '/schema/Contact/hooks')).body).toMatchObject({
      total: 1,
      steps: {
        before: expect.arrayContaining(['creating', 'qualifying']),
        after: expect.arrayContaining(['qualified']),
      },
    })
    expect((await request('DELETE', '/schema/Contact/hooks/creating')).status).toBe(204)
    expect((await request('GET', '/schema/Contact/hooks/creating')).status).toBe(404)
    expect((await request('POST', '/Contact', { name: 'Ada' })).body.title).toBeUndefined()
    expect((await put('() => {}')).status).toBe(201)
  })

  verifies('hook.put.admin', 'storing a hook needs admin on the platform and write on the type', async () => {
    const { tenant } = await tenantWith({})
    const put = async (scopes: string) =>
      (
        await host.as(await host.key(tenant, scopes))('PUT', `/~${tenant}/schema/Contact/hooks/creating`, {
          code: '() => {}',
        })
      ).status

    expect(await put('write:all,admin:crm')).toBe(403)
    expect(await put('admin:platform')).toBe(403)
    expect(await put('admin:platform,write:crm')).toBe(201)
  })

  test.each([
    ['a step that the type has not', 'Contact', 'flying', '() => {}', 404, /creating/],
    ['a type that is not there', 'Nothing', 'creating', '() => {}', 404, /no type/],
    ['code that is no function', 'Contact', 'creating', '{ a: 1 }', 422, /function/],
    ['code that cannot be read', 'Contact', 'creating', '(a => ', 422, /./],
    ['no code', 'Contact', 'creating', '', 400, /code/],
  ])('%s is refused', async (_, type, step, code, status, message) => {
    const reply = await host.request('PUT', `/~refused/schema/${type}/hooks/${step}`, { code })

    expect(reply.status).toBe(status)
    expect(reply.body.message).toMatch(message)
  })

  verifies('hook.put.tenant', 'a stored hook runs in its own tenant only', async () => {
    await tenantWith({ 'Contact.creating': '() => { throw new Error("no") }' })
    const { request } = await tenantWith({})

    expect((await request('POST', '/Contact', { name: 'Ada' })).status).toBe(201)
  })
})
