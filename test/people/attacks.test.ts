import { createServer, type Server } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDocuments } from '../../packages/server/src/node/outbound/documents.ts'
import { createPasswords } from '../../packages/server/src/node/secrets/passwords.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import {
  askToken,
  authorizePath,
  codeFor,
  connect,
  decide,
  fieldsOf,
  pkce,
  REDIRECT,
  register,
  sendForm,
} from './agents.ts'
import { type Browser, invite, PASSWORD, person } from './people.ts'

let host: TestHost
let ada: Browser
let eve: Browser
let number = 0
const email = () => `attacked${++number}@example.org`

/** Each test uses its own address, because requests to open paths are limited per address. */
let visitor = 0
const plainFetch = globalThis.fetch
globalThis.fetch = (input, init) => {
  if (input instanceof Request) return plainFetch(input, init)
  const headers = new Headers(init?.headers)
  if (!headers.has('x-forwarded-for')) headers.set('x-forwarded-for', `203.0.113.${visitor % 250}`)
  return plainFetch(input, { ...init, headers })
}
beforeEach(() => {
  visitor++
})
beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1', TILDE_PROXIES: '127.0.0.1' })
  ada = await person(host, 'acme', { email: email(), role: 'Admin' })
  eve = await person(host, 'acme', { email: email(), role: 'Member' })
})
afterAll(async () => {
  globalThis.fetch = plainFetch
  await host.stop()
})

describe('a page of another site', () => {
  verifies('attack.csrf', 'cannot sign a browser in, nor decide for a person', async () => {
    const foreign = { origin: 'https://evil.example', 'content-type': 'text/plain' }
    const address = email()
    await person(host, 'acme', { email: address, role: 'Member' })
    const body = JSON.stringify({ email: address, password: PASSWORD })
    const client = await register(host, 'acme')
    const page = await ada.send('GET', authorizePath('acme', { client_id: client, code_challenge: pkce().challenge }))
    const fields = { ...fieldsOf(page.text), decision: 'allow' }

    expect((await host.as('')('POST', '/~acme/session', body, foreign)).status).toBe(403)
    expect((await host.as('')('POST', '/~acme/session', body, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await sendForm(ada, '/~acme', fields, { origin: 'https://evil.example' })).status).toBe(403)
    // Another browser cannot use the request, and without it there is no decision.
    expect((await sendForm(eve, '/~acme', fields)).status).toBe(400)
    expect((await sendForm(ada, '/~acme', { decision: 'allow', scope0: 'admin:all' })).status).toBe(400)
    expect((await sendForm(ada, '/~acme', fields)).status).toBe(303)
    expect((await sendForm(ada, '/~acme', fields)).status).toBe(400)
  })

  verifies('attack.cors', 'gets no answer to a request with a cookie', async () => {
    const { headers } = await ada.send('GET', '/~acme/session', undefined, { origin: 'https://evil.example' })
    const preflight = await host.as('')('OPTIONS', '/~acme/Contact', undefined, {
      origin: 'https://evil.example',
      'access-control-request-headers': 'x-tilde-csrf',
    })

    for (const answer of [headers, preflight.headers]) {
      expect(answer.get('access-control-allow-origin')).toBe('*')
      expect(answer.get('access-control-allow-credentials')).toBeNull()
    }
  })
})

verifies('attack.fixation', 'a session that was there before is not the one that signing in starts', async () => {
  const address = email()
  await person(host, 'acme', { email: address, role: 'Member' })
  const planted = `tilde_session=tbs_${'A'.repeat(40)}~acme`
  const reply = await host.as('')('POST', '/~acme/session', { email: address, password: PASSWORD }, { cookie: planted })
  const given = reply.headers.get('set-cookie')!.split(';')[0]!

  expect(reply.status).toBe(201)
  expect(given).not.toBe(planted)
  expect((await host.as('')('GET', '/~acme/session', undefined, { cookie: planted })).status).toBe(401)
  expect((await host.as('')('GET', '/~acme/session', undefined, { cookie: given })).status).toBe(200)
})

describe('an authorization request', () => {
  verifies('attack.redirect', 'never leads to an address that its client did not register', async () => {
    const client = await register(host, 'acme', { redirect_uris: ['https://app.example/cb', 'http://127.0.0.1/cb'] })
    const ask = (uri: string) =>
      ada.send('GET', authorizePath('acme', { client_id: client, code_challenge: pkce().challenge, redirect_uri: uri }))

    for (const uri of [
      'https://evil.example/cb',
      'https://app.example/cb/../evil',
      'https://app.example/cb?x=1',
      'https://app.example.evil.example/cb',
      'https://app.example@evil.example/cb',
      'https://app.example:444/cb',
      'http://127.0.0.1:99/other',
      'http://127.0.0.1.evil.example/cb',
      'javascript:alert(1)',
    ]) {
      const { status, headers } = await ask(uri)
      expect([uri, status, headers.get('location')]).toEqual([uri, 400, null])
    }
    expect((await ask('https://app.example/cb')).status).toBe(200)
    expect((await ask('http://127.0.0.1:5173/cb')).status).toBe(200)
  })

  test.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://app.example/cb'],
    ['https://app.example/cb#part'],
    ['https://user:word@app.example/cb'],
    ['file:///etc/passwd'],
    ['/relative'],
  ])('cannot be prepared by registering %s', async (uri) => {
    const { status, body } = await host.as('')('POST', '/~acme/oauth/register', { redirect_uris: [uri] })

    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
  })

  verifies('attack.pkce', 'needs PKCE with S256, and its code needs the verifier', async () => {
    const client = await register(host, 'acme')
    const location = async (fields: Record<string, string>) =>
      (await ada.send('GET', authorizePath('acme', { client_id: client, ...fields }))).headers.get('location') ?? ''
    const { challenge, verifier } = pkce()

    expect(await location({})).toContain('error=invalid_request')
    expect(await location({ code_challenge: verifier, code_challenge_method: 'plain' })).toContain(
      'error=invalid_request',
    )
    expect(await location({ code_challenge: 'short' })).toContain('error=invalid_request')
    for (const proof of [{}, { code_verifier: challenge }, { code_verifier: pkce().verifier }]) {
      const code = await codeFor(ada, 'acme', client, challenge)
      const fields = { grant_type: 'authorization_code', code, client_id: client, redirect_uri: REDIRECT }
      expect((await askToken(host, 'acme', { ...fields, ...proof } as never)).status).toBe(400)
    }
  })

  verifies('attack.mixup', 'is answered with the issuer that the metadata name', async () => {
    const client = await register(host, 'acme')
    const { headers } = await decide(
      ada,
      authorizePath('acme', { client_id: client, code_challenge: pkce().challenge }),
    )
    const { issuer } = (await host.as('')('GET', '/.well-known/oauth-authorization-server/~acme')).body

    expect(new URL(headers.get('location')!).searchParams.get('iss')).toBe(issuer)
  })

  test('with a parameter that comes twice is refused', async () => {
    const path = authorizePath('acme', { client_id: await register(host, 'acme'), code_challenge: pkce().challenge })

    expect((await ada.send('GET', `${path}&redirect_uri=https%3A%2F%2Fevil.example`)).status).toBe(400)
  })
})

describe('a code', () => {
  verifies('attack.replay', 'that comes again ends what it led to', async () => {
    const client = await register(host, 'acme')
    const { verifier, challenge } = pkce()
    const code = await codeFor(ada, 'acme', client, challenge)
    const fields = {
      grant_type: 'authorization_code',
      code,
      client_id: client,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }
    const first = await askToken(host, 'acme', fields)
    const works = async () => (await host.as(first.body.access_token)('GET', '/~acme/Contact')).status
    const before = await works()
    const second = await askToken(host, 'acme', fields)

    expect([first.status, before]).toEqual([200, 200])
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant'])
    expect(await works()).toBe(401)
  })

  verifies('attack.injection', 'of one client or one redirect is not valid for another', async () => {
    const [mine, theirs] = [await register(host, 'acme'), await register(host, 'acme')]
    const { verifier, challenge } = pkce()
    const ask = async (change: Record<string, string>) => {
      const code = await codeFor(ada, 'acme', mine, challenge)
      const fields = { grant_type: 'authorization_code', code, client_id: mine, redirect_uri: REDIRECT }
      return (await askToken(host, 'acme', { ...fields, code_verifier: verifier, ...change })).status
    }

    expect(await ask({ client_id: theirs })).toBe(400)
    expect(await ask({ redirect_uri: 'http://127.0.0.1:4711/other' })).toBe(400)
    expect(await ask({})).toBe(200)
  })

  test('of a person who was suspended meanwhile gives no token', async () => {
    const bob = await person(host, 'acme', { email: email(), role: 'Member' })
    const client = await register(host, 'acme')
    const { verifier, challenge } = pkce()
    const code = await codeFor(bob, 'acme', client, challenge)
    await host.request('POST', `/~acme/User/${bob.user.$id}/suspend`)
    const fields = { grant_type: 'authorization_code', code, client_id: client, redirect_uri: REDIRECT }

    expect((await askToken(host, 'acme', { ...fields, code_verifier: verifier })).status).toBe(400)
  })
})

verifies('attack.tenant', 'a token of one tenant opens nothing at another, nor do its codes', async () => {
  const other = await person(host, 'other', { email: email(), role: 'Admin' })
  const { access, refresh, client } = await connect(host, other, 'other')
  const turn = { grant_type: 'refresh_token', refresh_token: refresh, client_id: client }

  expect((await host.as(access)('GET', '/~other/Contact')).status).toBe(200)
  expect((await host.as(access)('GET', '/~acme/Contact')).status).toBe(403)
  expect((await host.as(access.replace('~other', '~acme'))('GET', '/~acme/Contact')).status).toBe(401)
  expect((await askToken(host, 'acme', turn)).status).toBe(400)
  expect((await other.send('GET', '/~acme/Contact')).status).toBe(403)
})

verifies('oauth.outlive', 'an agent cannot make what would outlive the consent of its person', async () => {
  const { access } = await connect(host, ada, 'acme', { asked: { scope: 'admin:all' } })
  const limited = await connect(host, ada, 'acme', { asked: { scope: 'admin:all' }, chosen: { writesPerDay: '100' } })
  const webhook = { url: 'https://example.org/hook', events: ['*'] }

  expect((await host.as(access)('POST', '/~acme/api-keys', { name: 'x', scopes: 'admin:all' })).status).toBe(403)
  expect((await host.as(access)('POST', `/~acme/User/${eve.user.$id}/invite`)).status).toBe(403)
  expect((await host.as(limited.access)('POST', '/~acme/webhooks', webhook)).status).toBe(403)
  expect((await host.as(limited.access)('POST', '/~acme/Workflow', { name: 'x' })).status).toBe(403)
  const hook = { code: '(entity) => ({})' }
  expect((await host.as(limited.access)('PUT', '/~acme/schema/Contact/hooks/creating', hook)).status).toBe(403)
})

verifies('oauth.outlive', 'an agent cannot give a role, nor change what a role allows', async () => {
  const { access } = await connect(host, ada, 'acme', { asked: { scope: 'admin:all' } })
  const agent = host.as(access)
  const bob = await person(host, 'acme', { email: email(), role: 'Viewer' })
  await host.request('PUT', '/~acme/schema/roles/Desk', { scopes: 'read:support' })

  const answers = [
    await agent('PUT', `/~acme/User/${bob.user.$id}`, { role: 'Admin' }),
    await agent('POST', `/~acme/User/${bob.user.$id}/update`, { role: null }),
    await agent('PUT', '/~acme/schema/roles/Desk', { scopes: 'admin:all' }),
    await agent('PUT', '/~acme/schema/roles/Chief', { scopes: 'admin:all' }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  expect((await host.request('GET', `/~acme/User/${bob.user.$id}`)).body.role).toBe('Viewer')
  expect((await agent('PUT', `/~acme/User/${bob.user.$id}`, { name: 'Bob' })).status).toBe(200)
})

test('an agent cannot manage how its person signs in', async () => {
  const { access } = await connect(host, ada, 'acme', { asked: { scope: 'admin:all' } })
  const agent = host.as(access)

  expect((await agent('PUT', '/~acme/account/password', { password: 'a brand new passphrase' })).status).toBe(404)
  expect((await agent('POST', '/~acme/account/passkeys/options', {})).status).toBe(404)
  expect((await agent('DELETE', '/~acme/session')).status).toBe(404)
})

describe('guessing', () => {
  verifies('attack.enumeration', 'learns nothing about which accounts there are', async () => {
    const [known, invited, suspended] = [email(), email(), email()]
    await person(host, 'acme', { email: known, role: 'Member' })
    await invite(host, 'acme', { email: invited, role: 'Member' })
    const gone = await person(host, 'acme', { email: suspended, role: 'Member' })
    await host.request('POST', `/~acme/User/${gone.user.$id}/suspend`)
    const attempt = async (address: string) => {
      const { status, body } = await host.as('')('POST', '/~acme/session', { email: address, password: 'not this one' })
      const { requestId, ...rest } = body
      return [status, rest]
    }
    const answers = await Promise.all([known, invited, suspended, email()].map(attempt))

    expect(answers[0]![0]).toBe(401)
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  verifies('attack.timing', 'costs one hash, whether or not there is such an account', async () => {
    const passwords = createPasswords()!
    const order: string[] = []
    const hashing = passwords.hash(PASSWORD).then(() => order.push('hash'))
    const testing = passwords.verify(PASSWORD, null).then((is) => order.push(`unknown ${is}`))
    await Promise.all([hashing, testing])

    // It waited for its turn: it was hashed as any other.
    expect(order).toEqual(['hash', 'unknown false'])
  })

  verifies(
    'attack.brute',
    'is slowed down per account and address, with the same answer for every account',
    async () => {
      const known = email()
      await person(host, 'acme', { email: known, role: 'Member' })
      const attempts = async (address: string) => {
        const statuses: number[] = []
        for (let i = 0; i < 10; i++)
          statuses.push(
            (await host.as('')('POST', '/~acme/session', { email: address, password: `guess ${i}` })).status,
          )
        return statuses
      }
      const [one, two] = [await attempts(known), await attempts(email())]
      const right = await host.as('')('POST', '/~acme/session', { email: known, password: PASSWORD })

      expect(one).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429, 429])
      expect(two).toEqual(one)
      expect(right.status).toBe(429)
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    },
  )

  test('too many sign-ins at once wait for each other, and the last of them are refused', async () => {
    const passwords = createPasswords()!
    const all = await Promise.allSettled(Array.from({ length: 70 }, () => passwords.verify('x', null)))
    const refused = all.filter((one) => one.status === 'rejected')

    expect(refused).toHaveLength(6)
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'busy' })
  })
})

describe('the metadata document of a client', () => {
  let server: Server
  let base: string
  const documents: Record<string, { status?: number; type?: string; location?: string; body: unknown }> = {}
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      const { status = 200, type = 'application/json', location, body } = documents[url!] ?? { status: 404, body: '' }
      response.writeHead(status, { 'content-type': type, ...(location && { location }) })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterAll(() => void server.close())
  const ask = (id: string) =>
    ada.send('GET', authorizePath('acme', { client_id: id, code_challenge: pkce().challenge }))

  verifies('oauth.document', 'represents a registration, and events name one agent for it', async () => {
    const id = `${base}/client.json`
    documents['/client.json'] = { body: { client_id: id, client_name: 'By document', redirect_uris: [REDIRECT] } }
    const { access } = await connect(host, ada, 'acme', { client: id })
    const one = (await host.as(access)('POST', '/~acme/Contact', { name: 'x' })).body.$createdBy
    const again = await connect(host, eve, 'acme', { client: id })
    const two = (await host.as(again.access)('POST', '/~acme/Contact', { name: 'y' })).body.$createdBy

    expect(one).toMatch(/^agent_/)
    expect(two).toBe(one)
  })

  test.each([
    ['names another client', { body: { client_id: 'https://else.example/c', redirect_uris: [REDIRECT] } }],
    ['is no JSON', { type: 'text/html', body: '<html>' }],
    ['has a redirect that is not allowed', { body: { client_id: '', redirect_uris: ['javascript:alert(1)'] } }],
    ['is too large', { body: { client_id: '', redirect_uris: [REDIRECT], more: 'x'.repeat(70_000) } }],
    [
      'wants a secret',
      { body: { client_id: '', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' } },
    ],
    ['leads elsewhere', { status: 302, location: '/client.json', body: '' }],
  ])('is refused when it %s', async (title, document) => {
    const path = `/${title.replaceAll(' ', '-')}.json`
    const body = document.body as Record<string, unknown>
    documents[path] = { ...document, body: body.client_id === '' ? { ...body, client_id: `${base}${path}` } : body }

    expect((await ask(`${base}${path}`)).status).toBe(400)
  })

  verifies('attack.ssrf', 'is not read from private addresses, by http, or before a person has signed in', async () => {
    let connections = 0
    const trap = createTcp((socket) => {
      connections++
      socket.destroy()
    })
    await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done))
    const { port } = trap.address() as { port: number }
    const { read } = createDocuments({ insecure: false })
    const urls = ['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1']

    for (const name of urls) expect(await read(`https://${name}:${port}/c.json`)).toBeNull()
    expect(await read(`http://127.0.0.1:${port}/c.json`)).toBeNull()
    const id = `http://127.0.0.1:${port}/c.json`
    await host.as('')('GET', authorizePath('acme', { client_id: id, code_challenge: pkce().challenge }))
    const device = await host.as('')('POST', '/~acme/oauth/device', new URLSearchParams({ client_id: id }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(device.status).toBe(401)
    expect(connections).toBe(0)
    trap.close()
  })
})

describe('clients without a key', () => {
  const from = (address: string, path: string, body: string | object, type = 'application/json') =>
    host.as('')('POST', path, body, { 'x-forwarded-for': address, 'content-type': type, origin: host.url })
  const FORM = 'application/x-www-form-urlencoded'
  const device = (address: string) => from(address, '/~acme/oauth/device', 'client_id=tilde-cli&scope=read:all', FORM)

  test('cannot close the device flow for other addresses', async () => {
    for (let i = 0; i < 110; i++) await device('198.51.100.1')

    expect((await device('198.51.100.1')).body.error).toBe('slow_down')
    expect((await device('198.51.100.2')).status).toBe(200)
  })

  test('take codes of the address that has most when all are in use', async () => {
    const own = await device('198.51.100.3')
    for (let i = 0; i < 520; i++) await device(`198.18.${i % 60}.1`)

    expect((await device('198.51.100.4')).status).toBe(200)
    const grant = 'urn:ietf:params:oauth:grant-type:device_code'
    const poll = { grant_type: grant, device_code: own.body.device_code, client_id: 'tilde-cli' }
    expect((await askToken(host, 'acme', poll)).body.error).toBe('authorization_pending')
  })

  test('cannot close signing in with passkeys', async () => {
    const options = (address: string) => from(address, '/~acme/session/passkey/options', {})
    for (let i = 0; i < 1_010; i++) await options(`198.19.${i % 12}.1`)

    expect((await options('198.51.100.5')).status).toBe(200)
  })

  test.each(['https://a;b.example/', 'https://a,b.example/', "https://a'b.example/"])(
    'cannot register a redirect that writes into the policy of a page: %s',
    async (uri) => {
      const { status, body } = await from('198.51.100.6', '/~acme/oauth/register', { redirect_uris: [uri] })

      expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
    },
  )
})
