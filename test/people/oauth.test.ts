import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { askToken, authorizePath, connect, decide, pkce, REDIRECT, register } from './agents.ts'
import { type Browser, person } from './people.ts'

let host: TestHost
let ada: Browser
let admin: Browser
let number = 0
const email = () => `person${++number}@example.org`

beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Grace', stage: 'Lead' })
  await host.request('POST', '/~acme/Contact', { name: 'Linus', stage: 'Customer' })
  ada = await person(host, 'acme', { email: email(), role: 'Member' })
  admin = await person(host, 'acme', { email: email(), role: 'Admin' })
})
afterAll(() => host.stop())

describe('the metadata', () => {
  verifies('oauth.metadata', 'names the tenant as protected resource and as authorization server', async () => {
    const get = async (path: string) => (await host.as('')('GET', path)).body
    const issuer = `${host.url}/~acme`

    const mcp = await get('/.well-known/oauth-protected-resource/~acme/mcp')
    const rest = await get('/.well-known/oauth-protected-resource/~acme')
    const server = await get('/.well-known/oauth-authorization-server/~acme')

    expect(mcp).toMatchObject({ resource: `${issuer}/mcp`, authorization_servers: [issuer] })
    expect(rest).toMatchObject({ resource: issuer, authorization_servers: [issuer] })
    expect(server).toMatchObject({
      issuer,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      registration_endpoint: `${issuer}/oauth/register`,
    })
    expect(await get('/~acme/.well-known/openid-configuration')).toEqual(server)
    expect(await get('/.well-known/oauth-authorization-server/~never-made')).toMatchObject({
      issuer: `${host.url}/~never-made`,
    })
  })

  verifies('oauth.metadata', 'announces what needs a person only where there is one', async () => {
    const get = async (path: string) => host.as('')('GET', path)
    await host.request('POST', '/~alone/Contact', { name: 'Ada' })

    const alone = await get('/.well-known/oauth-authorization-server/~alone')
    const below = await get('/~alone/.well-known/openid-configuration')
    const never = await get('/.well-known/oauth-authorization-server/~no-such')
    await person(host, 'alone', { email: email(), role: 'Member' })
    const joined = await get('/.well-known/oauth-authorization-server/~alone')

    expect([alone.status, below.status, never.status, joined.status]).toEqual([200, 200, 200, 200])
    expect(below.body).toEqual(alone.body)
    expect(alone.text.replaceAll('~alone', '~no-such')).toBe(never.text)
    for (const name of ['registration_endpoint', 'device_authorization_endpoint', 'revocation_endpoint']) {
      expect(alone.body).not.toHaveProperty(name)
      expect(joined.body).toHaveProperty(name)
    }
    expect(alone.body).not.toHaveProperty('client_id_metadata_document_supported')
    expect(await register(host, 'alone')).toMatch(/^agent_/)
  })

  verifies('oauth.challenge', 'is named by every 401 of a tenant', async () => {
    const challenge = async (path: string, key = '') =>
      (await host.as(key)('GET', path)).headers.get('www-authenticate')
    const at = `${host.url}/.well-known/oauth-protected-resource/~acme`

    expect(await challenge('/~acme/mcp')).toBe(`Bearer resource_metadata="${at}/mcp"`)
    expect(await challenge('/~acme/Contact')).toBe(`Bearer resource_metadata="${at}"`)
    expect(await challenge('/~acme/Contact', 'wrong')).toBe(`Bearer error="invalid_token", resource_metadata="${at}"`)
  })
})

/** The side of the client that keeps what it learns, for the official client. */
class Provider {
  redirectUrl = REDIRECT
  clientMetadata = { client_name: 'Official', redirect_uris: [REDIRECT] }
  #client: any
  #tokens: any
  #verifier = ''
  #state: any
  asked: URL | null = null
  clientInformation = () => this.#client
  saveClientInformation = (given: any) => {
    this.#client = given
  }
  tokens = () => this.#tokens
  saveTokens = (given: any) => {
    this.#tokens = given
  }
  redirectToAuthorization = (url: URL) => {
    this.asked = url
  }
  saveCodeVerifier = (given: string) => {
    this.#verifier = given
  }
  codeVerifier = () => this.#verifier
  saveDiscoveryState = (given: any) => {
    this.#state = given
  }
  discoveryState = () => this.#state
}

describe.each(['auto', 'legacy'] as const)('the official client (%s)', (mode) => {
  verifies('oauth.mcp', 'connects through the consent page, and its writes name agent and person', async () => {
    const provider = new Provider()
    const open = () =>
      new StreamableHTTPClientTransport(new URL(`${host.url}/~acme/mcp`), { authProvider: provider as never })
    const first = open()
    await expect(
      new Client({ name: 'x', version: '1' }, { versionNegotiation: { mode } }).connect(first),
    ).rejects.toBeInstanceOf(UnauthorizedError)
    const { pathname, search, searchParams } = provider.asked!
    const answer = await decide(ada, `${pathname}${search}`)
    await first.finishAuth(new URL(answer.headers.get('location')!).searchParams)
    const client = new Client({ name: 'x', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(open())

    const { tools } = await client.listTools()
    const code = `await $.Contact.create({ name: 'By agent ${mode}' })`
    const done = await client.callTool({ name: 'do', arguments: { code } })
    const [event] = (await host.request('GET', '/~acme/events?type=Contact.created&limit=1000')).body.results.slice(-1)
    await client.close()

    expect(searchParams.get('resource')).toBe(`${host.url}/~acme/mcp`)
    expect(tools.map(({ name }) => name)).toEqual(['search', 'fetch', 'do'])
    expect(done.isError).not.toBe(true)
    expect(event).toMatchObject({ actor: expect.stringMatching(/^agent_/), onBehalfOf: ada.user.$id })
    expect(event.data).toMatchObject({ name: `By agent ${mode}`, $createdBy: event.actor })
    // The token is for MCP: its resource indicator said so.
    const send = host.as((provider.tokens() as any).access_token)
    expect((await send('GET', '/~acme/Contact')).status).toBe(401)
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const accept = { accept: 'application/json, text/event-stream' }
    expect((await send('POST', '/~acme/mcp', list, accept)).status).toBe(200)
  })
})

describe('consent', () => {
  verifies('oauth.consent', 'shows client, tenant and scopes on a page that no site can frame', async () => {
    const client = await register(host, 'acme', { client_name: '<b>Sneaky</b>' })
    const path = authorizePath('acme', { client_id: client, code_challenge: pkce().challenge, scope: 'write:crm' })
    const { text, headers } = await ada.send('GET', path)

    expect(text).toContain('&lt;b&gt;Sneaky&lt;/b&gt;')
    expect(text).toContain('<strong><bdi>acme</bdi></strong>')
    expect(text).toContain('write:crm')
    expect(text).not.toContain('<script')
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*script-src 'none'.*frame-ancestors 'none'/,
    )
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  verifies('oauth.narrow', 'lets the person allow less: scopes, areas, rows, verbs and limits', async () => {
    const { access, tokens } = await connect(host, ada, 'acme', {
      asked: { scope: 'admin:all' },
      chosen: {
        areas: 'crm',
        rows: '{"Contact": {"stage": "Lead"}}',
        verbs: 'Contact.create, update',
        writesPerDay: '2',
        rowsPerAnswer: '1',
      },
    })
    const agent = host.as(access)
    const create = (name: string) => agent('POST', '/~acme/Contact', { name, stage: 'Lead' })
    const list = (await agent('GET', '/~acme/Contact?limit=50')).body

    expect(tokens.scope).toBe('write:crm')
    expect((await agent('GET', '/~acme/Invoice')).status).toBe(403)
    expect(list.results).toHaveLength(1)
    expect([list.hasMore, list.results[0].stage]).toEqual([true, 'Lead'])
    expect((await agent('GET', '/~acme/export/Contact')).status).toBe(403)
    expect((await create('one')).status).toBe(201)
    const { body: two } = await create('two')
    expect((await agent('POST', `/~acme/Contact/${two.$id}/qualify`)).status).toBe(403)
    const third = await create('three')
    expect([third.status, third.body.error]).toEqual([429, 'rate_limited'])
    expect(Number(third.headers.get('retry-after'))).toBeLessThanOrEqual(86_400)
  })

  verifies('oauth.narrow', 'can be allowed to propose only, and an administrator approves', async () => {
    const { access } = await connect(host, ada, 'acme', { asked: { scope: 'propose:crm' } })
    const agent = host.as(access)

    const plain = await agent('POST', '/~acme/Contact', { name: 'Zoe' })
    const proposed = await agent('POST', '/~acme/Contact?propose=Add%20Zoe', { name: 'Zoe' })
    const before = await host.request('GET', '/~acme/Contact?name=Zoe')
    const approved = await host.request('POST', `/~acme/changesets/${proposed.body.$id}/approve`)
    const after = await host.request('GET', '/~acme/Contact?name=Zoe')

    expect(plain.status).toBe(403)
    expect(proposed.status, proposed.text).toBe(202)
    expect(before.body.total).toBe(0)
    expect(approved.status, approved.text).toBe(200)
    expect(after.body.total).toBe(1)
  })

  test('never gives more than the person holds, also when their role changes later', async () => {
    const bob = await person(host, 'acme', { email: email(), role: 'Member' })
    const { access, tokens } = await connect(host, bob, 'acme', { asked: { scope: 'admin:all' } })
    const write = async () => (await host.as(access)('POST', '/~acme/Contact', { name: 'x' })).status
    const before = await write()
    await host.request('PUT', `/~acme/User/${bob.user.$id}`, { role: 'Viewer' })

    expect(tokens.scope).toBe('write:all')
    expect([before, await write()]).toEqual([201, 403])
  })

  test('is refused to a client_id that looks like a URL and is none', async () => {
    for (const id of ['https://', 'https://[', 'https://a b/', 'https://%00/x']) {
      const path = authorizePath('acme', { client_id: id, code_challenge: pkce().challenge })
      expect([id, (await ada.send('GET', path)).status]).toEqual([id, 400])
    }
  })

  test('can be denied, and the client learns that', async () => {
    const client = await register(host, 'acme')
    const path = authorizePath('acme', { client_id: client, code_challenge: pkce().challenge })
    const { headers } = await decide(ada, path, { decision: 'deny' })
    const { searchParams } = new URL(headers.get('location')!)

    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: 'access_denied',
      state: 's1',
      iss: `${host.url}/~acme`,
    })
    expect(searchParams.has('code')).toBe(false)
  })

  test('sends a person who is not signed in to the page for that, and back', async () => {
    const path = authorizePath('acme', { client_id: await register(host, 'acme'), code_challenge: pkce().challenge })
    const { status, headers } = await host.as('')('GET', path)

    expect(status).toBe(302)
    expect(headers.get('location')).toBe(`/~acme/sign-in?return=${encodeURIComponent(path)}`)
  })

  test('explains what is wrong with a narrowing, and keeps the request', async () => {
    const client = await register(host, 'acme')
    const path = authorizePath('acme', { client_id: client, code_challenge: pkce().challenge })
    for (const chosen of [{ rows: '{"Contact": {"name": {"$like": 1}}}' }, { verbs: '{create}' }]) {
      const { status, text } = await decide(ada, path, chosen)

      expect(status).toBe(422)
      expect(text).toContain('role="alert"')
    }
  })
})

describe('tokens', () => {
  verifies(
    'oauth.tokens',
    'are listed without their secrets and revoked by their person, or by an administrator',
    async () => {
      const { access, refresh, client } = await connect(host, ada, 'acme', { asked: { scope: 'read:crm' } })
      const list = await ada.send('GET', '/~acme/account/tokens')
      const own = list.body.results.find((one: any) => one.client.id === client)
      const stranger = await person(host, 'acme', { email: email(), role: 'Member' })

      expect(own).toMatchObject({ scopes: 'read:crm', user: ada.user.$id, client: { name: 'Test agent' } })
      expect(list.text).not.toMatch(/tb[ar]_/)
      expect((await stranger.send('DELETE', `/~acme/account/tokens/${own.id}`)).status).toBe(403)
      expect((await host.as(access)('GET', '/~acme/Contact')).status).toBe(200)
      expect((await admin.send('DELETE', `/~acme/account/tokens/${own.id}`)).status).toBe(204)
      expect((await host.as(access)('GET', '/~acme/Contact')).status).toBe(401)
      const again = await askToken(host, 'acme', {
        grant_type: 'refresh_token',
        refresh_token: refresh,
        client_id: client,
      })
      expect(again.body.error).toBe('invalid_grant')
    },
  )

  verifies('oauth.refresh', 'rotate, and a refresh token that comes again ends the whole family', async () => {
    const first = await connect(host, ada, 'acme')
    const turn = (refresh: string) =>
      askToken(host, 'acme', { grant_type: 'refresh_token', refresh_token: refresh, client_id: first.client })
    const second = (await turn(first.refresh)).body
    const works = async (token: string) => (await host.as(token)('GET', '/~acme/Contact')).status
    const before = await works(second.access_token)
    const reused = await turn(first.refresh)

    expect(second.refresh_token).not.toBe(first.refresh)
    expect(before).toBe(200)
    expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant'])
    expect(await works(second.access_token)).toBe(401)
    expect((await turn(second.refresh_token)).status).toBe(400)
  })

  verifies('oauth.refresh', 'have the scope that the client narrows them to, and never a wider one', async () => {
    const { refresh, client } = await connect(host, ada, 'acme', { asked: { scope: 'write:crm read:billing' } })
    const turn = (refresh: string, scope: string) =>
      askToken(host, 'acme', { grant_type: 'refresh_token', refresh_token: refresh, client_id: client, scope })
    const statuses = async (token: string) => [
      (await host.as(token)('GET', '/~acme/Contact')).status,
      (await host.as(token)('POST', '/~acme/Contact', { name: 'Eve' })).status,
      (await host.as(token)('GET', '/~acme/Invoice')).status,
    ]

    const wider = await Promise.all(
      ['write:billing', 'read:all', 'read:crm write:support', 'nonsense'].map((scope) => turn(refresh, scope)),
    )
    const narrow = await turn(refresh, 'read:Contact')
    const full = await turn(narrow.body.refresh_token, '')

    expect(wider.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([400, 'invalid_scope']))
    expect(narrow.body.scope).toBe('read:Contact')
    expect(await statuses(narrow.body.access_token)).toEqual([200, 403, 403])
    expect(full.body.scope).toBe('write:crm read:billing')
    expect(await statuses(full.body.access_token)).toEqual([200, 201, 200])
  })

  test('are not used up by a request that is refused for its resource, or has no client_id', async () => {
    const { refresh, client } = await connect(host, ada, 'acme')
    const turn = (fields: Record<string, string>) =>
      askToken(host, 'acme', { grant_type: 'refresh_token', refresh_token: refresh, ...fields })

    const refused = [await turn({ client_id: client, resource: 'https://elsewhere.example' }), await turn({})]
    const taken = await turn({ client_id: client })

    expect(refused.map(({ body }) => body.error)).toEqual(['invalid_target', 'invalid_request'])
    expect(taken.status).toBe(200)
  })

  verifies('oauth.revoke', 'end when the client revokes them', async () => {
    const { access, refresh, client } = await connect(host, ada, 'acme')
    const revoke = (token: string) =>
      host.as('')('POST', '/~acme/oauth/revoke', new URLSearchParams({ token, client_id: client }).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
      })

    expect((await revoke('tba_unknown')).status).toBe(200)
    expect((await revoke(access)).status).toBe(200)
    expect((await host.as(access)('GET', '/~acme/Contact')).status).toBe(401)
    expect((await revoke(refresh)).status).toBe(200)
    const next = await askToken(host, 'acme', {
      grant_type: 'refresh_token',
      refresh_token: refresh,
      client_id: client,
    })
    expect(next.status).toBe(400)
  })

  verifies('oauth.suspend', 'end at once when their person is suspended', async () => {
    const eve = await person(host, 'acme', { email: email(), role: 'Member' })
    const { access, refresh, client } = await connect(host, eve, 'acme')
    await host.request('POST', `/~acme/User/${eve.user.$id}/suspend`)

    expect((await host.as(access)('GET', '/~acme/Contact')).status).toBe(401)
    const next = await askToken(host, 'acme', {
      grant_type: 'refresh_token',
      refresh_token: refresh,
      client_id: client,
    })
    expect(next.body.error).toBe('invalid_grant')
  })

  verifies('oauth.resource', 'are bound to the resource that was asked for', async () => {
    const client = await register(host, 'acme')
    const ask = (resource: string) =>
      ada.send('GET', authorizePath('acme', { client_id: client, code_challenge: pkce().challenge, resource }))
    const location = async (resource: string) => (await ask(resource)).headers.get('location') ?? ''

    expect(await location(`${host.url}/~other/mcp`)).toContain('error=invalid_target')
    expect(await location('https://elsewhere.example/~acme')).toContain('error=invalid_target')
    expect((await ask(`${host.url}/~acme/mcp`)).status).toBe(200)
  })
})

describe('a program without a browser', () => {
  verifies('oauth.device', 'shows a code, and gets its token when a person has entered it', async () => {
    const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { body } = await host.as('')(
      'POST',
      '/~acme/oauth/device',
      form({ client_id: 'tilde-cli', scope: 'read:all' }),
      headers,
    )
    const poll = () =>
      askToken(host, 'acme', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: body.device_code,
        client_id: 'tilde-cli',
      })
    const pending = await poll()
    const wrong = await ada.send('GET', '/~acme/oauth/device?user_code=AAAA-AAAA')
    const phished = await ada.send('GET', `/~acme/oauth/device?user_code=${body.user_code}`, undefined, {
      'sec-fetch-site': 'cross-site',
    })
    const done = await decide(ada, `/~acme/oauth/device?user_code=${body.user_code}`)
    const tokens = await poll()

    expect(pending.body.error).toBe('authorization_pending')
    expect(wrong.status).toBe(422)
    expect(phished.text).not.toContain('name="request"')
    expect(done.status).toBe(200)
    expect(tokens.body.scope).toBe('read:all')
    expect((await host.as(tokens.body.access_token)('GET', '/~acme/Contact')).status).toBe(200)
    expect((await poll()).body.error).toBe('expired_token')
  })
})
