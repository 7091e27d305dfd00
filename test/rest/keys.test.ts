import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sent = (...args: Parameters<TestHost['request']>) => host.request(...args)

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const create = (fields: object, tenant = 'acme') => sent('POST', `/~${tenant}/api-keys`, fields)
const events = async (id: string) =>
  (await sent('GET', `/~acme/api-keys/${id}/history`)).body.results.map((v: any) => v.event).reverse()

describe('a key', () => {
  verifies(
    [
      'key.id',
      'key.path',
      'key.prefix',
      'limit.keyPrefix',
      'key.secret.form',
      'key.create.answer',
      'key.created',
      'key.secret.once',
      'key.get',
      'key.create.guarded',
      'key.hash',
      'key.status.values',
      'type.plural.all',
    ],
    'is created with a secret that is shown once and kept nowhere',
    async () => {
      const { status, body } = await create({ name: 'ci', keyPrefix: 'mine', status: 'Revoked' })
      const read = await sent('GET', `/~acme/api-keys/${body.$id}`)
      const listed = await sent('GET', '/~acme/ApiKey')
      await sent('GET', '/operator/tenants/acme/verify')

      expect(status).toBe(201)
      expect(body.secret).toMatch(/^tb_[0-9A-Za-z]{40}~acme$/)
      expect(body).toMatchObject({ status: 'Active', keyPrefix: body.secret.slice(0, 8) })
      expect(read.text + listed.text + (await sent('GET', `/~acme/api-keys/${body.$id}/history`)).text).not.toContain(
        body.secret,
      )
      expect(await events(body.$id)).toEqual(['created'])
      expect(host.stored()).toContain(body.$id)
      expect(host.stored()).not.toContain(body.secret)
    },
  )

  verifies(
    [
      'key.revoke',
      'key.revoke.path',
      'key.revoke.immediate',
      'auth.unusable',
      'auth.revoked',
      'auth.challenge',
      'auth.rotation',
      'key.final',
      'key.noRollback',
      'key.list.status',
    ],
    'is permanently invalid after its revocation',
    async () => {
      const old = (await create({ name: 'old' })).body
      const young = (await create({ name: 'young' })).body
      const before = await host.as(old.secret)('GET', '/~acme/Contact')

      const revoked = await sent('POST', `/~acme/api-keys/${old.$id}/revoke`)
      const after = await host.as(old.secret)('GET', '/~acme/Contact')
      const other = await host.as(young.secret)('GET', '/~acme/Contact')
      const again = await sent('POST', `/~acme/api-keys/${old.$id}/revoke`)
      const update = await sent('PUT', `/~acme/api-keys/${old.$id}`, { status: 'Active', name: 'new' })
      const rollback = await sent('POST', `/~acme/api-keys/${old.$id}/rollback`, { asOf: old.$createdAt })
      const list = await sent('GET', '/~acme/api-keys?status=Revoked')

      expect([before.status, revoked.body.status, after.status, other.status]).toEqual([200, 'Revoked', 401, 200])
      expect([after.body.error, after.headers.get('www-authenticate')]).toEqual([
        'unauthorized',
        expect.stringMatching(/^Bearer error="invalid_token", resource_metadata=/),
      ])
      expect([again.status, update.body.status, rollback.status]).toEqual([409, 'Revoked', 404])
      expect((await host.as(old.secret)('GET', '/~acme/Contact')).status).toBe(401)
      expect(list.body.results.map((key: any) => key.$id)).toEqual([old.$id])
      expect(await events(old.$id)).toEqual(['created', 'revoked', 'updated'])
    },
  )

  verifies(['key.expire', 'key.expiresAt', 'key.expired.event'], 'expires automatically at its time', async () => {
    const { body } = await create({ name: 'brief', expiresAt: new Date(Date.now() + 2_000).toISOString() })
    const ask = async () => (await host.as(body.secret)('GET', '/~acme/Contact')).status

    expect(await ask()).toBe(200)
    await expect.poll(ask, { timeout: 20_000 }).toBe(401)
    expect((await sent('GET', `/~acme/api-keys/${body.$id}`)).body.status).toBe('Expired')
    expect(await events(body.$id)).toEqual(['created', 'expired'])
  })

  verifies(
    ['key.delete', 'key.delete.immediate', 'key.delete.status'],
    'is dead with its deletion, and its status stays in the log',
    async () => {
      const { body } = await create({ name: 'gone' })
      await nextMillisecond()
      const asOf = new Date().toISOString()
      await nextMillisecond()

      const { status } = await sent('DELETE', `/~acme/api-keys/${body.$id}`)
      const after = await host.as(body.secret)('GET', '/~acme/Contact')
      const past = await sent('GET', `/~acme/api-keys/${body.$id}?asOf=${asOf}`)

      expect([status, after.status, past.body.status]).toEqual([204, 401, 'Active'])
    },
  )

  verifies(['key.update', 'key.name'], 'is updated in name and scopes only', async () => {
    const { body } = await create({ name: 'a', scopes: 'read:crm' })

    const good = await sent('PUT', `/~acme/api-keys/${body.$id}`, { name: 'b', scopes: 'write:crm', keyPrefix: 'x' })
    const bad = await sent('PUT', `/~acme/api-keys/${body.$id}`, { expiresAt: '2030-01-01T00:00:00Z' })
    const nameless = await create({ scopes: 'read:crm' })

    expect(good.body).toMatchObject({ name: 'b', scopes: 'write:crm', keyPrefix: body.keyPrefix })
    expect([bad.status, bad.body.details[0].field]).toEqual([422, 'expiresAt'])
    expect([nameless.status, nameless.body.details[0].field]).toEqual([422, 'name'])
    expect((await host.as(body.secret)('POST', '/~acme/Contact', { name: 'x' })).status).toBe(201)
  })

  test('tells when it was last used, without a version for it', async () => {
    const { body } = await create({ name: 'used' })
    const before = await sent('GET', `/~acme/api-keys/${body.$id}`)
    const used = Date.now()
    await host.as(body.secret)('GET', '/~acme/Contact')

    const after = await sent('GET', `/~acme/api-keys/${body.$id}`)

    expect(before.body.lastUsedAt).toBeUndefined()
    expect(Date.parse(after.body.lastUsedAt)).toBeGreaterThanOrEqual(used)
    expect(after.body.$version).toBe(1)
  })
})

describe('scopes', () => {
  verifies(
    [
      'scope.order',
      'scope.area',
      'scope.read',
      'scope.write',
      'scope.admin',
      'auth.scopes',
      'auth.narrow',
      'scope.keys.read',
      'scope.schema.read',
      'key.scopes.form',
    ],
    'allow what they name and no more',
    async () => {
      const may = async (scopes: string, method: string, path: string, body?: object) => {
        const key = await host.key('acme', scopes)
        return (await host.as(key)(method, `/~acme/${path}`, body)).status
      }

      expect(await may('read:crm', 'GET', 'Contact')).toBe(200)
      expect(await may('read:crm', 'POST', 'Contact', { name: 'x' })).toBe(403)
      expect(await may('read:crm', 'GET', 'Ticket')).toBe(403)
      expect(await may('write:Contact', 'GET', 'Contact')).toBe(200)
      expect(await may('write:Contact', 'POST', 'Deal', { name: 'x' })).toBe(403)
      expect(await may('admin:*', 'POST', 'Ticket', { subject: 'x' })).toBe(201)
      expect(await may('write:all', 'GET', 'api-keys')).toBe(403)
      expect(await may('admin:identity', 'GET', 'api-keys')).toBe(200)
      expect(await may('write:all', 'PUT', 'schema/Robot', { name: 'string' })).toBe(403)
      expect(await may('read:Contact', 'GET', 'schema')).toBe(200)
      expect((await create({ name: 'x', scopes: 'fly:all' })).status).toBe(422)
      expect((await create({ name: 'x', scopes: 'read:nowhere' })).status).toBe(422)
    },
  )

  verifies(['scope.inherited', 'scope.grant'], 'are inherited, and a key grants no more than it holds', async () => {
    const key = await host.key('acme', 'admin:identity,write:crm')

    const heir = await host.as(key)('POST', '/~acme/api-keys', { name: 'heir' })
    const less = await host.as(key)('POST', '/~acme/api-keys', { name: 'less', scopes: 'read:Contact' })
    const more = await host.as(key)('POST', '/~acme/api-keys', { name: 'more', scopes: 'admin:all' })
    const raised = await host.as(key)('PUT', `/~acme/api-keys/${less.body.$id}`, { scopes: 'admin:crm' })

    expect(heir.body.scopes).toBe('admin:identity,write:crm')
    expect(less.status).toBe(201)
    expect([more.status, more.body.error]).toEqual([403, 'forbidden'])
    expect(raised.status).toBe(403)
  })

  verifies(['scope.include', 'scope.dotted'], 'reach over include and dotted filters', async () => {
    const narrow = host.as(await host.key('acme', 'read:Contact'))
    const wide = host.as(await host.key('acme', 'read:Contact,read:Organization'))
    const dotted = `/~acme/Contact?filter=${encodeURIComponent('{"organization.name":"x"}')}`

    expect((await narrow('GET', '/~acme/Contact?include=organization')).status).toBe(403)
    expect((await narrow('GET', dotted)).status).toBe(403)
    expect((await wide('GET', '/~acme/Contact?include=organization')).status).toBe(200)
    expect((await wide('GET', dotted)).status).toBe(200)
  })

  test.each(['rows', 'Filter', 'scope', 'expires'])('a key with an unknown member %s is refused', async (member) => {
    const before = (await sent('GET', '/~acme/api-keys/count')).body.count
    const created = await create({ name: 'narrow', scopes: 'read:crm', [member]: {} })
    const { body: key } = await create({ name: 'plain', scopes: 'read:crm' })
    const updated = await sent('PUT', `/~acme/api-keys/${key.$id}`, { [member]: {} })

    for (const { status, body } of [created, updated])
      expect([status, body.error, body.field, body.message]).toEqual([
        422,
        'validation_error',
        member,
        expect.stringMatching(
          /did you mean (filter|scopes|expiresAt)|its fields are name, scopes, expiresAt and filter/,
        ),
      ])
    expect((await sent('GET', '/~acme/api-keys/count')).body.count).toBe(before + 1)
    expect((await sent('PUT', `/~acme/api-keys/${key.$id}`, key)).status).toBe(422)
    const { secret: _, ...shown } = key
    expect((await sent('PUT', `/~acme/api-keys/${key.$id}`, { ...shown, name: 'renamed' })).status).toBe(200)
  })

  test('can be narrowed to rows, which every read and write must satisfy', async () => {
    const make = async (name: string, region: string) =>
      (await sent('POST', '/~regions/Contact', { name, region })).body
    const [north, south] = [await make('N', 'north'), await make('S', 'south')]
    const { body: org } = await sent('POST', '/~regions/Organization', { name: 'O' })
    await sent('PUT', `/~regions/Contact/${south.$id}`, { organization: org.$id })
    const agent = host.as(await host.key('regions', 'write:crm', { filter: { Contact: { region: 'north' } } }))

    const list = await agent('GET', '/~regions/Contact')
    const hidden = await agent('GET', `/~regions/Contact/${south.$id}`)
    const history = await agent('GET', `/~regions/Contact/${south.$id}/history`)
    const change = await agent('PUT', `/~regions/Contact/${south.$id}`, { phone: '1' })
    const leave = await agent('PUT', `/~regions/Contact/${north.$id}`, { region: 'south' })
    const enter = await agent('POST', '/~regions/Contact', { name: 'X', region: 'south' })
    const good = await agent('POST', '/~regions/Contact', { name: 'X', region: 'north' })
    const embedded = await agent('GET', `/~regions/Organization/${org.$id}?include=contacts`)

    expect(list.body.results.map((one: any) => one.$id)).toEqual([north.$id])
    expect(list.body.total).toBe(1)
    expect([hidden.status, history.status, change.status, leave.status, enter.status, good.status]).toEqual([
      404, 404, 404, 403, 403, 201,
    ])
    expect(embedded.body.contacts).toEqual([])
    expect((await sent('GET', '/~regions/Contact')).body.total).toBe(3)
  })
})

describe('a request', () => {
  verifies(['auth.bearer', 'auth.missing', 'auth.malformed'], 'without a valid key is answered 401', async () => {
    const forms = [
      '',
      'nonsense',
      'tb_short~acme',
      `tb_${'x'.repeat(40)}~acme`,
      `tb_${'x'.repeat(40)}~nobody`,
      'x'.repeat(10_000),
      `tb_${'x'.repeat(40)}~../../etc`,
    ]
    const answers = await Promise.all(forms.map((form) => host.as(form)('GET', '/~acme/Contact')))
    const basic = await fetch(`${host.url}/~acme/Contact`, { headers: { authorization: 'Basic cm9vdDpyb290' } })

    expect(answers.map(({ status }) => status)).toEqual(forms.map(() => 401))
    expect(basic.status).toBe(401)
  })

  verifies(
    ['auth.wrongTenant', 'root.everyTenant', 'root.env'],
    'of another tenant’s key is answered 403, whether or not the tenant exists',
    async () => {
      const key = host.as(await host.key('acme', 'admin:all'))
      await sent('POST', '/~globex/Contact', { name: 'x' })

      const there = await key('GET', '/~globex/Contact')
      const nowhere = await key('GET', '/~never-was/Contact')

      expect([there.status, nowhere.status]).toEqual([403, 403])
      expect({ ...there.body, requestId: '' }).toEqual({ ...nowhere.body, requestId: '' })
      expect((await sent('GET', '/~globex/Contact')).status).toBe(200)
    },
  )
})

describe('the first key', () => {
  verifies(['signup.closed'], 'cannot be had without a key by default', async () => {
    expect((await host.as('')('POST', '/~new/api-keys', { name: 'first' })).status).toBe(401)
  })

  verifies(
    ['signup.open', 'signup.scope', 'signup.existing'],
    'are issued to everyone for a new tenant if sign-up is open',
    async () => {
      const open = await testHost({ TILDE_SIGNUP: 'open' })

      const first = await open.as('')('POST', '/~new/api-keys', { name: 'first', scopes: 'read:crm' })
      const second = await open.as('')('POST', '/~new/api-keys', { name: 'second' })
      const other = await open.as('')('POST', '/~other/Contact', { name: 'x' })
      const used = await open.as(first.body.secret)('POST', '/~new/Contact', { name: 'x' })

      expect([first.status, first.body.scopes, second.status, other.status, used.status]).toEqual([
        201,
        'admin:all',
        401,
        401,
        201,
      ])
      await open.stop()
    },
  )

  verifies(
    ['root.generated', 'root.stored'],
    'of the operator is generated and kept for the owner of the folder alone',
    async () => {
      const own = await testHost({ TILDE_ROOT_KEY: '' })
      const path = join(own.data, 'root.key')
      const key = readFileSync(path, 'utf8').trim()

      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect((await own.as(key)('POST', '/~acme/Contact', { name: 'x' })).status).toBe(201)
      await own.stop()
    },
  )
})
