import { catalogue } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Route } from '../packages/server/src/doors/call.ts'
import { routes } from '../packages/server/src/doors/route-table.ts'
import { ROOT, type TestApp, type TestHost, testApp, testHost } from './host.ts'
import { verifies } from './verifies.ts'
import { wire } from './wire.ts'

/** Thousands of requests are sent to this one, without a socket. */
let app: TestApp
let host: TestHost
const dead: Record<string, string> = {}
const living: Record<string, string> = {}

const SCOPES = [
  'read:all',
  'write:all',
  'admin:all',
  'read:crm',
  'write:crm',
  'write:Plan',
  'admin:identity',
  'admin:platform',
  'write:platform',
  'read:platform',
  'write:analytics',
  'read:analytics',
  'read:marketing',
  'read:experiments',
  '',
]

beforeAll(async () => {
  app = await testApp()
  host = await testHost()
  for (const service of [app, host]) await service.request('POST', '/~acme/Contact', { name: 'Ada' })
  for (const scopes of SCOPES) living[scopes] = await app.key('acme', scopes)
  dead.unknown = `tb_${'x'.repeat(40)}~acme`
  for (const end of ['revoke', 'delete']) {
    const { body } = await app.request('POST', '/~acme/api-keys', { name: end, scopes: 'admin:all' })
    await app.request('POST', `/~acme/api-keys/${body.$id}/${end}`)
    dead[end] = body.secret
  }
  dead.expired = await app.key('acme', 'admin:all', { expiresAt: '2020-01-01T00:00:00Z' })
  dead.malformed = 'not-a-key'
  dead.wrongTail = `${living['admin:all']!.slice(0, -4)}othr`
})
afterAll(async () => {
  await app.stop()
  await host.stop()
})

const TYPES = { Contact: 'crm', Plan: 'billing', ApiKey: 'identity', Webhook: 'platform' }

/** Every route with every type it may be about, and a path of it where nothing is. */
const CASES = routes.all.flatMap((route) => {
  // Signing in needs no key: test/people is about that.
  if (route.needs === 'no key') return []
  const about = route.path.includes(':type') ? Object.keys(TYPES) : ['']
  return about.flatMap((type) => pathsOf(route, type).map((path) => [route.method, path, type, route] as const))
})

/** Keys and webhooks are created one by one: they cannot be imported with any scope. */
const CLOSED = ['/import/ApiKey', '/import/Webhook']

/** The path of a route, and with the plural path where it names a type. */
function pathsOf(route: Route, type: string): string[] {
  const path = route.path
    .replace(':type', type)
    .replace(':id', 'nothing_0000000000000000')
    .replace(':verb', 'update')
    .replace(/:\w+/g, 'nothing')
  const [, first] = route.path.split('/')
  const noun = Object.values(catalogue).find(({ name }) => name === first)
  // Lists of an account are about the person that the query names.
  const query = route.path.startsWith('/account') && route.method === 'GET' ? '?user=user_0000000000000000' : ''
  return [path, ...(noun ? [path.replace(noun.name, noun.path)] : [])].map((one) => one + query)
}

/** Whether a scope allows an action, said once more and in another way than the service says it. */
function allows(scope: string, action: string, type: string, area: string): boolean {
  const [held, where] = scope.split(':') as [string, string]
  const needed = type === 'ApiKey' || type === 'Webhook' ? 'admin' : action
  const order = { read: ['read', 'write', 'admin'], write: ['write', 'admin'], admin: ['admin'] }[needed]!
  return order.includes(held) && [type, area, 'all'].includes(where)
}

/** Whether a scope is enough for what a route says that it needs. */
function isEnough(scope: string, needs: string, type: string): boolean {
  const [, action = '', area] = /(read|write|admin)(?::(\w+))?/.exec(needs) ?? []
  if (area !== undefined) return allows(scope, action, '', area)
  if (needs.endsWith('on the type')) return allows(scope, action, type, TYPES[type as keyof typeof TYPES])
  if (needs.endsWith('on any area')) return allows(scope, action, '', scope.split(':')[1]!)
  // Any key, a session, or no more than the key may see: nothing is refused.
  return true
}

function send(key: string, method: string, path: string) {
  const body = method === 'GET' || method === 'DELETE' ? undefined : {}
  return app.as(key)(method, `/~acme${path}`, body)
}

describe('every route', () => {
  test('there are many', () => {
    expect(CASES.length).toBeGreaterThan(60)
  })

  verifies(
    ['auth.missing', 'auth.malformed', 'auth.revoked', 'auth.challenge', 'auth.unusable'],
    'answers 401 with a challenge without a key that is valid now',
    async () => {
      for (const [method, path] of CASES) {
        // Each of these refusals is held back for a moment.
        const answers = [['none', ''], ...Object.entries(dead)].map(async ([name, key]) => {
          const { status, body, headers } = await send(key!, method, path)
          expect([status, body?.error], `${name} ${method} ${path}`).toEqual([401, 'unauthorized'])
          expect(headers.get('www-authenticate')).toMatch(/^Bearer /)
        })
        await Promise.all(answers)
      }
    },
  )

  verifies('auth.wrongTenant', 'answers 403 to a key of another tenant', async () => {
    const foreign = await app.key('other', 'admin:all')
    for (const [method, path] of CASES) {
      const { status, body } = await send(foreign, method, path)
      expect([status, body?.error], `${method} ${path}`).toEqual([403, 'forbidden'])
    }
  })

  verifies(
    ['auth.narrow', 'auth.scopes', 'scope.read', 'scope.write', 'scope.admin', 'scope.keys.read', 'scope.order'],
    'asks for what the table says it needs, no more and no less',
    async () => {
      for (const [method, path, type, { needs, also = '' }] of CASES) {
        for (const [scope, key] of Object.entries(living)) {
          const allowed = !CLOSED.includes(path) && isEnough(scope, needs, type) && isEnough(scope, also, type)
          const { status, body } = await send(key, method, path)
          const told = `${scope} ${method} ${path} → ${status} ${JSON.stringify(body)?.slice(0, 120)}`
          if (allowed) expect([401, 403], told).not.toContain(status)
          else expect(status, told).toBe(403)
        }
      }
    },
  )

  verifies('scope.schema.read', 'that needs a valid key only answers any of them', async () => {
    for (const path of ['/schema', '/schema/Contact', '/openapi.json']) {
      for (const [scope, key] of Object.entries(living)) expect((await send(key, 'GET', path)).status, scope).toBe(200)
    }
  })

  verifies('root.everyTenant', 'answers the operator on every tenant', async () => {
    for (const [method, path] of CASES.filter(([, path]) => !CLOSED.includes(path))) {
      expect([401, 403], `${method} ${path}`).not.toContain((await send(ROOT, method, path)).status)
    }
  })

  test('never answers with a fault of ours', async () => {
    for (const [method, path] of CASES) {
      const { status, text } = await send(ROOT, method, path)
      expect(status, `${method} ${path} ${text.slice(0, 200)}`).not.toBe(500)
    }
  })
})

describe('whether a tenant exists', () => {
  verifies('auth.wrongTenant', 'is not revealed to a client without a key of it', async () => {
    const foreign = await host.key('other', 'admin:all')
    const senders: [string, string | undefined][] = [
      ['nobody', undefined],
      ['a key of another tenant', `Bearer ${foreign}`],
      ['an unknown key', `Bearer tb_${'y'.repeat(40)}~{tenant}`],
      ['a word', 'Bearer hello'],
      ['another scheme', 'Basic aGVsbG8='],
    ]
    for (const [name, authorization] of senders) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const answers = await Promise.all(
          ['acme', 'nowhere'].map(async (tenant) => {
            const sent = authorization && { authorization: authorization.replace('{tenant}', tenant) }
            const { status, headers, body } = await wire(host.url, `/~${tenant}/Contact/x`, sent || {}, method, {})
            return { status, names: Object.keys(headers).toSorted(), body: { ...body, requestId: '' } }
          }),
        )
        expect(answers[0], `${name} ${method}`).toEqual(answers[1])
      }
    }
    expect(await host.tenants()).not.toContain('nowhere')
  })
})

describe('what hostile senders try', () => {
  const auth = { authorization: `Bearer ${ROOT}` }

  verifies(
    ['slug.form', 'slug.invalid', 'slug.files'],
    'a tenant that is not a slug is refused and reaches no file',
    async () => {
      const before = await host.tenants()
      const tenants = [
        '..',
        '%2e%2e',
        'ACME',
        'a_b',
        '-a',
        'a-',
        'a'.repeat(64),
        'a%00',
        'a%0a',
        '',
        'a.db',
        '%7e',
        'ä',
        'a%20b',
      ]
      for (const tenant of tenants) {
        const { status, body } = await wire(host.url, `/~${encodeURI(decodeURI(tenant))}/Contact`, auth, 'POST', {
          name: 'x',
        })
        expect([400], `${tenant} ${JSON.stringify(body)}`).toContain(status)
        expect(['invalid_tenant', 'invalid_path']).toContain(body.error)
      }
      for (const path of ['/~acme%2f..%2fother/Contact', '/~acme/..%2fContact', '/~acme/%', '/~acme/Contact%00']) {
        expect((await wire(host.url, path, auth)).status, path).toBe(400)
      }
      expect(await host.tenants()).toEqual(before)
    },
  )

  test.each([
    ['a host of somebody else is taken as it is', 'evil.example', 200],
    ['a host that ends like ours is not ours', 'evillocalhost', 200],
    ['a lens that is none', 'nothing.localhost', 404],
    ['two dots', '..localhost', 404],
    ['letters that no host has', 'a b.localhost', 400],
    ['a host without end', `${'a.'.repeat(200)}localhost`, 400],
    ['markup', '<script>.localhost', 400],
    ['no host at all', '', 200],
  ])('%s', async (_, name, status) => {
    expect((await wire(host.url, '/~acme/Contact', { ...auth, host: name })).status).toBe(status)
  })

  test.each([
    'Bearer',
    'Bearer ',
    `Bearer ${'a'.repeat(10_000)}`,
    `bearer  ${ROOT} x`,
    `Token ${ROOT}`,
    ROOT,
    `Bearer ${ROOT},${ROOT}`,
    'Bearer tb_~acme',
    "Bearer ' OR 1=1 --",
    'Bearer tb_../../root.key~acme',
  ])('Authorization: %s opens nothing', async (authorization) => {
    expect((await wire(host.url, '/~acme/Contact', { authorization })).status).toBe(401)
  })

  test('types, ids and verbs of any form are answered, and never with a fault of ours', async () => {
    const words = [
      '__proto__',
      'constructor',
      'toString',
      '%27%3B--',
      '%22',
      'a'.repeat(500),
      '%F0%9F%98%80',
      '$id',
      '*',
      '..',
    ]
    for (const word of words) {
      for (const path of [
        `/${word}`,
        `/Contact/${word}`,
        `/${word}/x/${word}`,
        `/Contact?${word}=${word}`,
        `/Metric/${word}`,
      ]) {
        const { status } = await wire(host.url, `/~acme${path}`, auth)
        expect([200, 400, 404, 405], path).toContain(status)
      }
    }
  })
})

test('a key that may not write a webhook learns which scope it needs', async () => {
  const send = app.as(await app.key('acme', 'write:platform'))

  const { status, body } = await send('POST', '/~acme/webhooks', { url: 'https://a.example', events: ['Contact.*'] })

  expect(status).toBe(403)
  expect(body.message).toBe('This key may not write Webhook. It needs admin:platform or more.')
})
