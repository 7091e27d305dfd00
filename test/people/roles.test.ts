import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Browser, person } from './people.ts'

let app: TestApp
let number = 0
const email = () => `person${++number}@example.org`
const join = (role: string | undefined, tenant = 'acme') =>
  person(app, tenant, { email: email(), ...(role && { role }) })
const status = async (who: Browser, method: string, path: string, body?: unknown) =>
  (await who.send(method, `/~acme${path}`, body)).status

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

describe('the built-in roles', () => {
  verifies('people.roles', 'let an Admin do all, a Member write data, a Viewer read', async () => {
    const [admin, member, viewer, none] = [
      await join('Admin'),
      await join('Member'),
      await join('Viewer'),
      await join(undefined),
    ]
    const asked: [string, string, unknown?][] = [
      ['GET', '/Contact'],
      ['POST', '/Contact', { name: 'x' }],
      ['GET', '/api-keys'],
      ['POST', '/webhooks', { url: 'https://example.org/hook', events: ['*'] }],
      ['PUT', '/schema/Ship', { name: 'string' }],
      ['GET', '/schema/Contact/hooks'],
    ]
    const row = (who: Browser) => Promise.all(asked.map(([method, path, body]) => status(who, method, path, body)))

    expect(await row(admin)).toEqual([200, 201, 200, 201, 201, 200])
    expect(await row(member)).toEqual([200, 201, 403, 403, 403, 403])
    expect(await row(viewer)).toEqual([200, 403, 403, 403, 403, 403])
    expect(await row(none)).toEqual([403, 403, 403, 403, 403, 403])
  })

  test('cannot be changed', async () => {
    expect((await app.request('PUT', '/~acme/schema/roles/Admin', { scopes: 'read:all' })).status).toBe(422)
    expect((await app.request('DELETE', '/~acme/schema/roles/Viewer')).status).toBe(422)
  })
})

describe('a role of the tenant', () => {
  test('warns of a field that no entity has, in a role and in a key', async () => {
    const filter = { Deal: { ownr: 'x' } }
    const role = await app.request('PUT', '/~acme/schema/roles/Typo', { scopes: 'read:crm', filter })
    const key = await app.request('POST', '/~acme/api-keys', { name: 'typo', scopes: 'read:crm', filter })

    const expected = [{ field: 'filter.Deal.ownr', nearest: 'owner' }]
    for (const { headers } of [role, key]) expect(JSON.parse(headers.get('x-tilde-warnings')!)).toEqual(expected)
  })

  test('with an unknown member is refused, and one that was read can be sent back', async () => {
    const put = (body: object) => app.request('PUT', '/~acme/schema/roles/Reader', body)
    const refused = await put({ scopes: 'read:crm', rows: { Deal: { name: 'x' } } })
    const { body } = await put({ scopes: 'read:crm', filter: { Deal: { name: 'x' } } })

    expect([refused.status, refused.body.field, refused.body.message]).toEqual([
      422,
      'rows',
      expect.stringContaining('its fields are scopes and filter'),
    ])
    expect((await put(body)).body).toEqual(body)
  })

  verifies('people.roles.own', 'narrows people to the rows that name them', async () => {
    const put = await app.request('PUT', '/~acme/schema/roles/Seller', {
      scopes: 'write:crm',
      filter: { Contact: { title: '$user.email' }, Deal: { owner: '$user.$id' } },
    })
    const [ada, bob] = [await join('Seller'), await join('Seller')]
    const made = await ada.send('POST', '/~acme/Contact', { name: 'mine', title: ada.user.email })
    const foreign = await ada.send('POST', '/~acme/Contact', { name: 'theirs', title: bob.user.email })
    const deal = await bob.send('POST', '/~acme/Deal', { name: 'd', owner: bob.user.$id })

    expect(put.status).toBe(201)
    expect([made.status, foreign.status, deal.status]).toEqual([201, 403, 201])
    expect((await ada.send('GET', '/~acme/Contact')).body.results.map((one: any) => one.name)).toEqual(['mine'])
    expect((await bob.send('GET', `/~acme/Contact/${made.body.$id}`)).status).toBe(404)
    expect((await ada.send('GET', '/~acme/Deal')).body.total).toBe(0)
    expect((await ada.send('GET', '/~acme/Invoice')).status).toBe(403)
  })

  verifies('people.roles.change', 'takes effect on the next request, as does another role of the person', async () => {
    await app.request('PUT', '/~acme/schema/roles/Helper', { scopes: 'read:support' })
    const ada = await join('Helper')
    const before = await status(ada, 'GET', '/Contact')
    await app.request('PUT', '/~acme/schema/roles/Helper', { scopes: 'read:crm' })
    const after = await status(ada, 'GET', '/Contact')
    await app.request('PUT', `/~acme/User/${ada.user.$id}`, { role: 'Member' })

    expect([before, after]).toEqual([403, 200])
    expect(await status(ada, 'POST', '/Contact', { name: 'x' })).toBe(201)
  })

  test('is listed, described as a value of User.role, and taken back', async () => {
    await app.request('PUT', '/~roles/schema/roles/Auditor', { scopes: 'read:all' })
    const listed = (await app.request('GET', '/~roles/schema/roles')).body.results.map((one: any) => one.name)
    const type = (await app.request('GET', '/~roles/schema/User')).body.notation.role

    expect(listed).toEqual(['Admin', 'Member', 'Viewer', 'Auditor'])
    expect(type).toContain('Auditor')
    expect((await app.request('GET', '/~roles/schema/roles/Auditor')).body).toMatchObject({ scopes: 'read:all' })
    expect((await app.request('DELETE', '/~roles/schema/roles/Auditor')).status).toBe(204)
    expect((await app.request('POST', '/~roles/User', { name: 'x', email: email(), role: 'Auditor' })).status).toBe(422)
  })

  test.each([
    ['an unknown area', { scopes: 'read:nothing' }],
    ['no scopes', {}],
    ['a filter on an unknown type', { scopes: 'read:all', filter: { Nothing: {} } }],
    ['an operator that does not exist', { scopes: 'read:all', filter: { Contact: { name: { $like: 'x' } } } }],
    ['another field of the person', { scopes: 'read:all', filter: { Contact: { name: '$user.name' } } }],
    ['a misspelt person', { scopes: 'read:all', filter: { Deal: { owner: '$usr.$id' } } }],
    ['a person where none can be', { scopes: 'read:all', filter: { Deal: { $or: [{ contact: '$user.$id' }] } } }],
    ['the address as a pattern', { scopes: 'read:all', filter: { Contact: { name: { $regex: '$user.email' } } } }],
  ])('is refused with %s', async (_, body) => {
    expect((await app.request('PUT', '/~acme/schema/roles/Wrong', body)).status).toBe(422)
  })
})

describe('rights over people', () => {
  verifies(
    'people.cover',
    'a key or person without the rights of a role cannot give it, or change a person who has it',
    async () => {
      const boss = await join('Admin')
      const key = app.as(await app.key('acme', 'admin:identity'))
      const writer = app.as(await app.key('acme', 'write:all'))
      const fresh = (role: string) => ({ name: 'x', email: email(), role })
      const sent = async (reply: Promise<{ status: number }>) => (await reply).status

      expect(await sent(key('POST', '/~acme/User', fresh('Admin')))).toBe(403)
      expect(await sent(writer('POST', '/~acme/User', fresh('Admin')))).toBe(403)
      expect(await sent(writer('POST', '/~acme/User', fresh('Member')))).toBe(403)
      expect(await sent(writer('PUT', `/~acme/User/${boss.user.$id}`, { email: email() }))).toBe(403)
      expect(await sent(writer('POST', `/~acme/User/${boss.user.$id}/invite`))).toBe(403)
      expect(await sent(writer('POST', `/~acme/User/${boss.user.$id}/suspend`))).toBe(403)
      expect(await sent(writer('DELETE', `/~acme/User/${boss.user.$id}`))).toBe(403)
      expect(await sent(key('PUT', '/~acme/schema/roles/Big', { scopes: 'admin:all' }))).toBe(403)
      expect(await sent(writer('POST', '/~acme/import/User', [fresh('Admin')]))).toBe(200)
      expect((await app.request('GET', '/~acme/User?role=Admin&status=Active')).body.total).toBeGreaterThan(0)
      const rows = (await app.request('GET', '/~acme/User?role=Admin')).body.results
      expect(rows.every((one: any) => one.$createdBy === 'operator')).toBe(true)
      expect(await status(boss, 'GET', '/Contact')).toBe(200)
    },
  )

  verifies(
    'people.self',
    'a person who is not an administrator changes no address, role or status, their own included',
    async () => {
      const member = await join('Member')
      const at = `/User/${member.user.$id}`

      expect(await status(member, 'PUT', at, { email: email() })).toBe(403)
      expect(await status(member, 'PUT', at, { role: 'Admin' })).toBe(403)
      expect(await status(member, 'POST', `${at}/suspend`)).toBe(403)
      expect(await status(member, 'POST', '/User', { name: 'x', email: email(), role: 'Member' })).toBe(403)
      expect(await status(member, 'PUT', at, { avatar: 'https://example.org/a.png' })).toBe(200)
    },
  )
})
