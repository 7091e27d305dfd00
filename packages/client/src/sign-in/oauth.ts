import { Problem } from '../problem.ts'
import { type Auth, token } from '../transport/wire.ts'
import { openPlace, type Place } from './place.ts'

/** How an application asks a person for rights. */
export interface OAuthOptions extends Place {
  /** Where the service sends the person back to. */
  readonly redirectUri: string
  /** The scopes to ask for; `['read:all']` by default. The person may narrow them. */
  readonly scopes?: readonly string[]
  /** The id of a registered client, or the URL of its metadata. Without one, the application registers itself. */
  readonly clientId?: string
  /** The name that the person sees, if the application registers itself. */
  readonly clientName?: string
}

/** What an application keeps until the person comes back. Plain data: it fits into `sessionStorage`. */
export interface PendingOAuth {
  readonly tenant: string
  readonly baseUrl: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
  readonly state: string
}

/** Tokens of one person for one application. Plain data: keep it as safe as a password. */
export interface Tokens {
  readonly tenant: string
  readonly baseUrl: string
  readonly clientId: string
  readonly accessToken: string
  readonly refreshToken: string | null
  readonly scopes: readonly string[]
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** Tokens are renewed this long before they end. */
const EARLY_MS = 30_000

/** Starts a sign-in by OAuth with PKCE: keep `pending`, and send the person to `url`. */
export async function startOAuth(options: OAuthOptions): Promise<{ url: string; pending: PendingOAuth }> {
  const { tenant, redirectUri, scopes = ['read:all'], clientName = 'Application' } = options
  const { wire, root } = openPlace(options)
  const clientId =
    options.clientId ??
    (
      await wire.json(`${root}/oauth/register`, {
        method: 'POST',
        body: { client_name: clientName, redirect_uris: [redirectUri] },
      })
    ).client_id
  const verifier = token() + token()
  const state = token()
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    scope: scopes.join(' '),
    state,
    resource: `${wire.baseUrl}${root}`,
  })
  return {
    url: `${wire.baseUrl}${root}/oauth/authorize?${query}`,
    pending: { tenant, baseUrl: wire.baseUrl, clientId, redirectUri, verifier, state },
  }
}

/** The tokens for the address that the person came back to. */
export async function finishOAuth(
  pending: PendingOAuth,
  address: string | URL,
  fetch?: Place['fetch'],
): Promise<Tokens> {
  const answer = new URL(address).searchParams
  const error = answer.get('error')
  if (error !== null)
    throw new Problem('forbidden', answer.get('error_description') ?? 'The sign-in was refused.', { oauth: error })
  const code = answer.get('code')
  if (code === null || answer.get('state') !== pending.state)
    throw new Problem('forbidden', 'This address does not belong to the sign-in that was started here.')
  return tokensFrom({ ...pending, ...(fetch && { fetch }) }, pending.clientId, {
    grant_type: 'authorization_code',
    code,
    code_verifier: pending.verifier,
    redirect_uri: pending.redirectUri,
  })
}

/** Credentials for `tildebase`. They renew themselves; `onTokens` gets the new tokens, the old ones no longer work. */
export function oauthAuth(
  first: Tokens,
  { onTokens, fetch }: { readonly onTokens?: (tokens: Tokens) => unknown; readonly fetch?: Place['fetch'] } = {},
): Auth {
  let tokens = first
  let renewing: Promise<boolean> | null = null
  // One renewal for all requests that wait for it: a refresh token that comes twice ends the sign-in.
  const renew = () => {
    renewing ??= renewed().finally(() => {
      renewing = null
    })
    return renewing
  }
  const renewed = async () => {
    if (tokens.refreshToken === null) return false
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refreshToken }
    tokens = await tokensFrom({ ...tokens, ...(fetch && { fetch }) }, tokens.clientId, form)
    await onTokens?.(tokens)
    return true
  }
  return {
    renew,
    async headers() {
      if (renewing !== null || Date.now() > tokens.expiresAt - EARLY_MS) await renew()
      return { authorization: `Bearer ${tokens.accessToken}` }
    },
  }
}

/** Ends the sign-in: neither token works afterwards. */
export async function endOAuth(tokens: Tokens, fetch?: Place['fetch']): Promise<void> {
  await formTo({ ...tokens, ...(fetch && { fetch }) }, 'revoke', {
    token: tokens.refreshToken ?? tokens.accessToken,
    client_id: tokens.clientId,
  })
}

async function tokensFrom(place: Place, clientId: string, form: { [name: string]: string }): Promise<Tokens> {
  const { wire, root } = openPlace(place)
  const resource = `${wire.baseUrl}${root}`
  const answer = await formTo(place, 'token', { ...form, client_id: clientId, resource })
  return {
    tenant: place.tenant,
    baseUrl: wire.baseUrl,
    clientId,
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? null,
    scopes: (answer.scope ?? '').split(' ').filter(Boolean),
    expiresAt: Date.now() + answer.expires_in * 1_000,
  }
}

/** Errors of OAuth have their own shape (RFC 6749), so they do not come through the wire. */
async function formTo(place: Place, name: string, form: { [name: string]: string }) {
  const { wire, root } = openPlace(place)
  const send = place.fetch ?? fetch
  const response = await send(`${wire.baseUrl}${root}/oauth/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const message = answer.error_description ?? answer.message ?? 'The sign-in has ended. Sign in again.'
  throw new Problem('unauthorized', message, { status: response.status, oauth: answer.error })
}

async function challengeOf(verifier: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  return btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
