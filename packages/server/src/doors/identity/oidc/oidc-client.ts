import * as oauth from 'oauth4webapi'
import type { OidcSettings } from '../ports.ts'

const TIMEOUT = 10_000
const KEPT_MS = 600_000
/** How far the clocks of the provider and of this service may be apart, in seconds. */
const SKEW = 30

/** What ties an answer of the provider to the question. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

const known = new Map<string, { readonly server: oauth.AuthorizationServer; readonly until: number }>()

export function newVerifier(): string {
  return oauth.generateRandomCodeVerifier()
}

/** Where a browser is sent to sign in. */
export async function authorizationUrl(settings: OidcSettings, redirect: string, attempt: Attempt): Promise<string> {
  const server = await serverOf(settings)
  if (!server.authorization_endpoint) throw new Error('The OIDC provider has no authorization endpoint.')
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    client_id: settings.clientId,
    redirect_uri: redirect,
    response_type: 'code',
    scope: 'openid email profile',
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/**
 * The address that the provider has verified for the person, or null. Issuer, audience, nonce, times and signature of the
 * ID token are tested; a failure of any of them throws.
 */
export async function verifiedEmail(
  settings: OidcSettings,
  redirect: string,
  parameters: URLSearchParams,
  { state, nonce, verifier }: Attempt,
): Promise<string | null> {
  const server = await serverOf(settings)
  const client: oauth.Client = { client_id: settings.clientId, [oauth.clockTolerance]: SKEW }
  const checked = oauth.validateAuthResponse(server, client, parameters, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic(settings.clientSecret),
    checked,
    redirect,
    verifier,
    options(settings),
  )
  const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, response, options(settings))
  const claims = oauth.getValidatedIdTokenClaims(result)!
  // Some providers have the address in the ID token, others only at their UserInfo endpoint.
  const { email, email_verified: isVerified } =
    claims.email !== undefined ? claims : await userInfo(server, client, settings, result.access_token, claims.sub)
  return typeof email === 'string' && isVerified === true ? email : null
}

async function userInfo(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  settings: OidcSettings,
  token: string,
  subject: string,
): Promise<oauth.UserInfoResponse | { email?: undefined; email_verified?: undefined }> {
  if (!server.userinfo_endpoint) return {}
  const response = await oauth.userInfoRequest(server, client, token, options(settings))
  return oauth.processUserInfoResponse(server, client, subject, response)
}

async function serverOf(settings: OidcSettings): Promise<oauth.AuthorizationServer> {
  const { issuer } = settings
  const kept = known.get(issuer)
  if (kept && kept.until > performance.now()) return kept.server
  const url = new URL(issuer)
  const response = await oauth.discoveryRequest(url, options(settings))
  const server = await oauth.processDiscoveryResponse(url, response)
  known.set(issuer, { server, until: performance.now() + KEPT_MS })
  return server
}

/** Plain http is possible for a provider on the same machine only, which is for development. */
function options({ issuer }: OidcSettings) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT),
    [oauth.allowInsecureRequests]: issuer.startsWith('http://'),
  }
}
