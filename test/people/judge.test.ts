import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { decide, REDIRECT } from './agents.ts'
import { type Browser, person } from './people.ts'

// A library that knows nothing of this service, and refuses what the RFCs do not allow.
let host: TestHost
let ada: Browser
const http = { [oauth.allowInsecureRequests]: true }
beforeAll(async () => {
  host = await testHost()
  ada = await person(host, 'acme', { email: 'ada@example.org', role: 'Member' })
})
afterAll(() => host.stop())

async function discovered() {
  const resource = new URL(`${host.url}/~acme/mcp`)
  const found = await oauth.resourceDiscoveryRequest(resource, http)
  const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(resource, found)
  const issuer = new URL(servers![0]!)
  const response = await oauth.discoveryRequest(issuer, { ...http, algorithm: 'oauth2' })
  return { resource, server: await oauth.processDiscoveryResponse(issuer, response) }
}

verifies('oauth.judge', 'a strict OAuth library discovers, registers, connects, refreshes and revokes', async () => {
  const { resource, server } = await discovered()
  const registered = await oauth.dynamicClientRegistrationRequest(
    server,
    { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none', client_name: 'Judge' },
    http,
  )
  const client = await oauth.processDynamicClientRegistrationResponse(registered)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint!)
  const asked = {
    client_id: client.client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'read:crm',
    state,
    resource: resource.href,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  const answer = await decide(ada, `${url.pathname}?${new URLSearchParams(asked)}`)
  const parameters = oauth.validateAuthResponse(server, client, new URL(answer.headers.get('location')!), state)
  const granted = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    REDIRECT,
    verifier,
    http,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, granted)
  const renewal = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token!, http)
  const renewed = await oauth.processRefreshTokenResponse(server, client, renewal)
  const revocation = await oauth.revocationRequest(server, client, oauth.None(), renewed.refresh_token!, http)
  await oauth.processRevocationResponse(revocation)

  expect(tokens.scope).toBe('read:crm')
  expect((await host.as(renewed.access_token)('POST', '/~acme/mcp', {})).status).toBe(401)
})

test('a strict OAuth library reads the challenge of a refused request', async () => {
  const ask = () =>
    oauth.protectedResourceRequest('tba_wrong', 'POST', new URL(`${host.url}/~acme/mcp`), undefined, '{}', http)

  await expect(ask()).rejects.toMatchObject({
    cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token', resource_metadata: expect.any(String) } }],
  })
})

verifies('people.without', 'a tenant without users, its keys and the operator work as before', async () => {
  const key = host.as(await host.key('plain', 'write:crm'))

  expect((await key('POST', '/~plain/Contact', { name: 'Ada' })).status).toBe(201)
  expect((await key('POST', '/~plain/Contact', { name: 'Ada' }, { cookie: 'tilde_session=tbs_x~plain' })).status).toBe(
    201,
  )
  expect((await host.request('GET', '/~plain/Contact')).body.total).toBe(2)
  expect((await host.as('')('GET', '/~plain/Contact')).status).toBe(401)
  expect((await host.as('')('POST', '/~plain/oauth/register', { redirect_uris: [REDIRECT] })).status).toBe(401)
})
