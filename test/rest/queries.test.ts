import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sent = (...args: Parameters<TestHost['request']>) => host.request(...args)
const list = (type: string, params: Record<string, string | object> = {}) =>
  sent(
    'GET',
    `/~acme/${type}?${new URLSearchParams(Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]))}`,
  )
const names = ({ body }: { body: any }) => body.results.map((one: any) => one.name)

beforeAll(async () => {
  host = await testHost()
  const make = async (type: string, fields: object) => (await sent('POST', `/~acme/${type}`, fields)).body.$id
  const parent = await make('Organization', { name: 'Parent', industry: 'finance' })
  const child = await make('Organization', { name: 'Child', parent, industry: 'retail' })
  for (let i = 0; i < 30; i++) {
    await nextMillisecond()
    await make('Contact', {
      name: `c${String(i).padStart(2, '0')}`,
      leadScore: i % 10,
      organization: i % 2 ? child : parent,
      profile: { tags: [{ level: i }] },
    })
  }
})
afterAll(() => host.stop())

describe('a list', () => {
  verifies(
    ['rest.list', 'list.shape', 'list.limit.default', 'list.sort.default', 'list.filter', 'limit.list'],
    'has 25 entities, newest first, with total, hasMore and cursor',
    async () => {
      const reply = await list('Contact')

      expect(Object.keys(reply.body)).toEqual(['results', 'total', 'hasMore', 'cursor'])
      expect(reply.body).toMatchObject({ total: 30, hasMore: true })
      expect(names(reply)).toEqual(Array.from({ length: 25 }, (_, i) => `c${String(29 - i).padStart(2, '0')}`))
      expect(names(await list('Contact', { cursor: reply.body.cursor }))).toEqual(['c04', 'c03', 'c02', 'c01', 'c00'])
      expect((await list('Contact', { filter: '{}' })).body.total).toBe(30)
    },
  )

  verifies(['list.sort', 'sort.meta', 'sort.invalid'], 'is sorted by fields and meta-fields', async () => {
    expect(names(await list('Contact', { sort: 'name', limit: '3' }))).toEqual(['c00', 'c01', 'c02'])
    expect(names(await list('Contact', { sort: '-leadScore,name', limit: '4' }))).toEqual(['c09', 'c19', 'c29', 'c08'])
    expect(names(await list('Contact', { sort: '$createdAt', limit: '1' }))).toEqual(['c00'])
    expect(names(await list('Contact', { sort: '-$updatedAt', limit: '1' }))).toEqual(['c29'])
    const wrong = await list('Contact', { sort: '-' })
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_sort'])
  })

  verifies(['list.limit'], 'has a limit of 1 to 100', async () => {
    for (const limit of ['0', '101', '-1', '1.5', 'ten', '']) {
      const { status, body } = await list('Contact', { limit })
      expect([limit, status, body.error, body.field]).toEqual([limit, 400, 'invalid_limit', 'limit'])
    }
    expect((await list('Contact', { limit: '100' })).body.results).toHaveLength(30)
  })

  verifies(
    ['parameter.equality', 'parameter.and'],
    'takes plain parameters as equalities, all of which must hold',
    async () => {
      expect((await list('Contact', { leadScore: '3' })).body.total).toBe(3)
      expect(names(await list('Contact', { leadScore: '3', filter: { name: { $gt: 'c10' } }, sort: 'name' }))).toEqual([
        'c13',
        'c23',
      ])
      expect((await list('Contact', { leadScore: 'three' })).status).toBe(400)
    },
  )

  verifies(
    ['filter.dotted', 'filter.dotted.depth', 'limit.dotted', 'dotted.limit', 'dotted.count'],
    'is filtered over relations to three levels, and into json below them',
    async () => {
      expect((await list('Contact', { filter: { 'organization.industry': 'retail' } })).body.total).toBe(15)
      expect((await list('Contact', { filter: { 'organization.parent.name': 'Parent' } })).body.total).toBe(15)
      expect((await list('Organization', { filter: { 'contacts.leadScore': { $gt: 8 } } })).body.total).toBe(1)
      expect(names(await list('Contact', { filter: { 'profile.tags.level': 7 } }))).toEqual(['c07'])
      const deep = await list('Contact', { filter: { 'organization.parent.parent.name': 'x' } })
      expect([deep.status, deep.body.error, deep.body.field]).toEqual([
        400,
        'invalid_filter',
        'organization.parent.parent.name',
      ])
    },
  )

  verifies(['list.asOf', 'asOf.invalid', 'fields.invalid'], 'is read as of a time', async () => {
    const { body } = await list('Contact', { name: 'c09' })
    expect((await list('Contact', { asOf: body.results[0].createdAt })).body.total).toBe(10)
    expect((await list('Contact', { asOf: '1999-01-01T00:00:00Z' })).body.total).toBe(0)
    const wrong = await list('Contact', { asOf: 'yesterday' })
    expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_as_of'])
    expect((await list('Contact', { fields: 'a.b' })).body.error).toBe('invalid_fields')
  })
})

describe('a filter that is wrong', () => {
  verifies(
    [
      'filter.malformed',
      'filter.wrongOperand',
      'operand.null',
      'operand.empty',
      'operand.in',
      'operand.not',
      'text.place',
      'regex.length',
      'regex.syntax',
      'limit.filter',
    ],
    'is answered 400 invalid_filter, with the field',
    async () => {
      const wrong: [string | object, string | undefined][] = [
        ['{', 'filter'],
        ['[]', 'filter'],
        ['"x"', 'filter'],
        ['null', 'filter'],
        [{ name: { $foo: 1 } }, 'name'],
        [{ leadScore: { $gte: null } }, 'leadScore'],
        [{ name: { $in: 'x' } }, 'name'],
        [{ name: { $not: 'x' } }, 'name'],
        [{ $and: [] }, '$and'],
        [{ $or: [] }, '$or'],
        [{ $or: [{ $text: 'x' }] }, '$text'],
        [{ name: { $regex: '(' } }, 'name'],
        [{ name: { $regex: '(?<=a)b' } }, 'name'],
        [{ name: { $regex: 'a'.repeat(257) } }, 'name'],
        [{ $or: Array.from({ length: 501 }, (_, i) => ({ name: String(i) })) }, undefined],
      ]
      for (const [filter, field] of wrong) {
        const { status, body } = await list('Contact', { filter })
        expect([filter, status, body.error]).toEqual([filter, 400, 'invalid_filter'])
        if (field !== undefined) expect([filter, body.field]).toEqual([filter, field])
      }
      expect((await list('Contact', { filter: wrong.at(-1)![0] })).body.limit).toBe(500)
    },
  )

  verifies('text.operand', '$text takes a string or {$search}', async () => {
    expect((await list('Contact', { filter: { $text: 'c0' } })).body.total).toBe(10)
    expect((await list('Contact', { filter: { $text: { $search: 'c0' } } })).body.total).toBe(10)
    expect((await list('Contact', { filter: { $text: 5 } })).status).toBe(400)
  })
})

verifies('regex.linear', 'no pattern can stall a tenant', async () => {
  const evil = await sent('POST', '/~acme/Contact', { name: 'evil', notes: `${'a'.repeat(50_000)}!` })

  const { status, body } = await list('Contact', { filter: { notes: { $regex: '^(a+)+$' } } })

  expect([evil.status, status, body.total]).toEqual([201, 200, 0])
})

describe('addresses', () => {
  const at = (headers: Record<string, string>, path: string, key?: string) =>
    new Promise<{ status: number; body: any }>((done, failed) => {
      // fetch does not let a Host header through.
      import('node:http').then(({ get }) =>
        get(
          `${host.url}${path}`,
          { headers: { authorization: `Bearer ${key ?? 'root-key-of-the-tests-which-is-long-enough'}`, ...headers } },
          (response) => {
            let text = ''
            response.on('data', (chunk) => {
              text += chunk
            })
            response.on('end', () => done({ status: response.statusCode!, body: text ? JSON.parse(text) : null }))
          },
        ).on('error', failed),
      )
    })

  verifies(
    [
      'endpoint.db',
      'address.listener.one',
      'address.db.anyHost',
      'address.db.tenant',
      'address.db.host',
      'address.db.mounted',
      'key.secret.tenant',
      'address.db.tenantRequired',
    ],
    'of the database answer on every host, with and without a tenant',
    async () => {
      const key = await host.key('acme', 'read:all')
      const paths = ['/events', '/export/Contact', '/manifest']

      for (const path of paths) {
        for (const name of ['db.localhost', 'localhost', 'crm.localhost', '127.0.0.1']) {
          expect([path, name, (await at({ host: name }, path, key)).status]).toEqual([path, name, 200])
        }
        expect((await at({}, `/~acme${path}`, key)).status).toBe(200)
      }
      const bare = await at({}, '/manifest')
      expect([bare.status, bare.body.error]).toEqual([400, 'tenant_required'])
      expect(bare.body.message).toContain('/~{tenant}/')
    },
  )

  verifies(
    ['address.suffix', 'address.suffix.default', 'meta.context'],
    'of a lens lead to the same data and the same $context',
    async () => {
      const plain = await at({ host: 'localhost:8787' }, '/~acme/Contact?limit=1')
      const lens = await at({ host: 'crm.localhost:8787' }, '/~acme/Contact?limit=1')
      const unknown = await at({ host: 'nonsense.localhost' }, '/~acme/Contact')

      expect(lens.body.results).toEqual(plain.body.results)
      expect(lens.body.results[0].$context).toBe('http://localhost:8787/~acme')
      expect([unknown.status, unknown.body.error]).toEqual([404, 'unknown_lens'])
    },
  )

  verifies('type.reserved', 'that are reserved are not types', async () => {
    for (const name of ['Batch', 'Schema']) expect((await sent('GET', `/~acme/${name}`)).status).toBe(404)
    for (const name of ['batch', 'sync', 'mcp'])
      expect([name, (await sent('DELETE', `/~acme/${name}`)).status]).toEqual([name, 405])
  })
})

test('a cursor of another question is refused', async () => {
  const { body } = await list('Contact', { limit: '2' })

  const other = await list('Contact', { cursor: body.cursor, sort: 'name' })
  const filtered = await list('Contact', { cursor: body.cursor, leadScore: '1' })
  const garbage = await list('Contact', { cursor: 'garbage' })

  expect([other, filtered, garbage].map((reply) => [reply.status, reply.body.error])).toEqual(
    Array(3).fill([400, 'invalid_cursor']),
  )
})
