import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readSettings } from '../../packages/server/src/host/settings/settings.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { CLIENT, passProvider, startProvider, type TestProvider } from './provider.ts'

let provider: TestProvider
let host: TestHost
let number = 0

beforeAll(async () => {
  const port = 20_000 + (process.pid % 20_000)
  provider = await startProvider(() => `http://127.0.0.1:${port}/oidc/callback`)
  host = await testHost(
    {
      TILDE_OIDC_ISSUER: provider.issuer,
      TILDE_OIDC_CLIENT_ID: CLIENT.id,
      TILDE_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
    { port: String(port) },
  )
})
afterAll(async () => {
  await host.stop()
  await provider.stop()
})
beforeEach(() => Object.assign(provider, { tamper: null, forged: false, unverified: false }))

async function newPerson(fields: Record<string, unknown> = {}): Promise<any> {
  const email = `member${++number}@example.org`
  return (await host.request('POST', '/~acme/User', { name: 'Ada', email, role: 'Member', ...fields })).body
}

/** Signs in with the provider as a browser does, and returns the last answer of this service. */
async function signIn(email: string, change: (url: URL) => void = () => {}, query = '') {
  const started = await host.as('')('GET', `/~acme/session/oidc${query}`)
  expect(started.status, started.text).toBe(302)
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const url = new URL(started.headers.get('location')!)
  change(url)
  const back = new URL(await passProvider(url.href, email))
  const forwarded = await host.as('')('GET', `${back.pathname}${back.search}`)
  const path = forwarded.headers.get('location')!
  return { path, answer: await host.as('')('GET', path, undefined, { cookie }) }
}

describe('a person of the provider', () => {
  verifies('people.oidc', 'signs in when the address is verified, and is the person with that address', async () => {
    const user = await newPerson()
    const { answer } = await signIn(user.email)
    const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
    const { body } = await host.as('')('GET', '/~acme/session', undefined, { cookie })

    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console#/~acme'])
    expect(body).toMatchObject({ actor: user.$id, scopes: ['write:all'] })
  })

  test('who was invited is active after it', async () => {
    const user = await newPerson()
    await host.request('POST', `/~acme/User/${user.$id}/invite`)
    const { answer } = await signIn(user.email)

    expect(answer.status).toBe(303)
    expect((await host.request('GET', `/~acme/User/${user.$id}`)).body.status).toBe('Active')
  })

  test('who is suspended, or unknown here, is not signed in', async () => {
    const user = await newPerson()
    await host.request('POST', `/~acme/User/${user.$id}/suspend`)

    for (const email of [user.email, 'stranger@example.org']) {
      const { answer } = await signIn(email)
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    }
  })

  verifies('people.oidc.unverified', 'whose address is not verified is not signed in', async () => {
    const user = await newPerson()
    provider.unverified = true
    const { answer } = await signIn(user.email)

    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
  })

  test.each([
    ['/~acme/oauth/authorize?x=1', '/~acme/oauth/authorize?x=1'],
    ['https://evil.example/', '/console#/~acme'],
    ['//evil.example/', '/console#/~acme'],
    ['/\\evil.example', '/console#/~acme'],
    ['/~other/session', '/console#/~acme'],
    ['/~acme/../~other/x', '/console#/~acme'],
  ])('who came from %s continues to %s', async (asked, expected) => {
    const user = await newPerson()
    const { answer } = await signIn(user.email, () => {}, `?return=${encodeURIComponent(asked)}`)

    expect(answer.headers.get('location')).toBe(expected)
  })
})

describe('an answer of the provider', () => {
  const now = () => Math.floor(Date.now() / 1_000)
  test('within the difference that clocks may have is taken', async () => {
    const user = await newPerson()
    provider.tamper = (claims) => ({ ...claims, iat: now() + 20, exp: now() - 20 })

    expect((await signIn(user.email)).answer.status).toBe(303)
  })

  const WRONG: [string, () => void][] = [
    [
      'of another issuer',
      () => void Object.assign(provider, { tamper: (c: any) => ({ ...c, iss: 'https://evil.example' }) }),
    ],
    ['for another audience', () => void Object.assign(provider, { tamper: (c: any) => ({ ...c, aud: 'other' }) })],
    ['with another nonce', () => void Object.assign(provider, { tamper: (c: any) => ({ ...c, nonce: 'other' }) })],
    ['without a nonce', () => void Object.assign(provider, { tamper: ({ nonce, ...c }: any) => c })],
    ['that has ended', () => void Object.assign(provider, { tamper: (c: any) => ({ ...c, exp: now() - 120 }) })],
    ['from the future', () => void Object.assign(provider, { tamper: (c: any) => ({ ...c, nbf: now() + 120 }) })],
    ['with the signature of another key', () => void Object.assign(provider, { forged: true })],
  ]
  for (const [title, prepare] of WRONG) {
    verifies('people.oidc.checks', `${title} is refused`, async () => {
      const user = await newPerson()
      prepare()
      const { answer } = await signIn(user.email)

      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    })
  }

  test('to a changed request is refused', async () => {
    const user = await newPerson()
    const { answer } = await signIn(user.email, (url) => url.searchParams.set('nonce', 'planted'))

    expect(answer.status).toBe(401)
  })

  verifies('attack.oidc.browser', 'is not valid in another browser, or a second time', async () => {
    const user = await newPerson()
    const first = await signIn(user.email)
    const started = await host.as('')('GET', '/~acme/session/oidc')
    const other = (await host.as('')('GET', '/~acme/session/oidc')).headers.get('set-cookie')!.split(';')[0]!
    const back = new URL(await passProvider(started.headers.get('location')!, user.email))
    const path = `/~acme/session/oidc/callback${back.search}`

    expect((await host.as('')('GET', path)).status).toBe(401)
    expect((await host.as('')('GET', path, undefined, { cookie: other })).status).toBe(401)
    expect((await host.as('')('GET', first.path, undefined, { cookie: other })).status).toBe(401)
  })
})

test.each([
  ['only a part of it', { TILDE_OIDC_ISSUER: 'https://id.example' }],
  ['http', { TILDE_OIDC_ISSUER: 'http://id.example', TILDE_OIDC_CLIENT_ID: 'a', TILDE_OIDC_CLIENT_SECRET: 'b' }],
  ['no address', { TILDE_OIDC_ISSUER: 'id.example', TILDE_OIDC_CLIENT_ID: 'a', TILDE_OIDC_CLIENT_SECRET: 'b' }],
])('a provider with %s is a mistake in the settings', (_, env) => {
  expect(() => readSettings({}, env)).toThrow(/TILDE_OIDC_ISSUER/)
})

test('without a provider the path says so', async () => {
  const plain = await testHost()
  await plain.request('POST', '/~acme/User', { name: 'x', email: 'x@example.org' })

  expect((await plain.as('')('GET', '/~acme/session/oidc')).status).toBe(501)
  await plain.stop()
})
