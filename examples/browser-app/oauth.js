// OAuth for an application without a server: a public client with PKCE. Nothing in here is secret, and the tokens are
// never stored: they live as long as the page.

const REDIRECT = location.origin + location.pathname
const STORE = 'tildebase.attempt'

let held = null

/** Sends the browser to the consent page of a tenant. */
export async function connect(url, tenant) {
  const server = await discover(`${url}/~${tenant}`)
  const client = await register(server)
  const verifier = random()
  const state = random()
  sessionStorage.setItem(STORE, JSON.stringify({ server, client, verifier, state }))
  const question = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: REDIRECT,
    scope: 'write:crm',
    resource: server.issuer,
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  })
  location.assign(`${server.authorization_endpoint}?${question}`)
}

/** Takes the code that the consent page sent, if there is one. True when the page is connected now. */
export async function finish() {
  const given = new URLSearchParams(location.search)
  const kept = JSON.parse(sessionStorage.getItem(STORE) ?? 'null')
  if (kept === null || !given.has('state')) return false
  sessionStorage.removeItem(STORE)
  history.replaceState(null, '', REDIRECT)
  // A different state belongs to another request; a different issuer is another server.
  if (given.get('state') !== kept.state || given.get('iss') !== kept.server.issuer)
    throw new Error('This answer is not ours.')
  if (given.has('error')) throw new Error(given.get('error_description') ?? given.get('error'))
  await take(kept.server, kept.client, {
    grant_type: 'authorization_code',
    code: given.get('code'),
    redirect_uri: REDIRECT,
    code_verifier: kept.verifier,
  })
  return true
}

/** The token, renewed when it is about to end. */
export async function accessToken() {
  if (held === null) throw new Error('Connect first.')
  const { server, client, refresh, until } = held
  if (until < Date.now() + 30_000) await take(server, client, { grant_type: 'refresh_token', refresh_token: refresh })
  return { issuer: held.server.issuer, token: held.token }
}

/** Revokes the tokens: what the person allowed ends at once. */
export async function disconnect() {
  const { server, client, refresh } = held
  held = null
  await post(server.revocation_endpoint, { token: refresh, client_id: client })
}

async function discover(issuer) {
  const { origin, pathname } = new URL(issuer)
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`)
  const server = await response.json()
  if (server.issuer !== issuer) throw new Error('The service has another name than the one you entered.')
  return server
}

async function register({ registration_endpoint: endpoint }) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Contacts (example)', redirect_uris: [REDIRECT] }),
  })
  const { client_id: id, error_description: error, message } = await response.json()
  if (!response.ok) throw new Error(error ?? message)
  return id
}

async function take(server, client, fields) {
  const answer = await post(server.token_endpoint, { client_id: client, ...fields })
  const { access_token: token, refresh_token: refresh, expires_in: seconds } = answer
  held = { server, client, token, refresh, until: Date.now() + seconds * 1_000 }
}

async function post(url, fields) {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error_description ?? answer.message)
  return answer
}

async function challengeOf(verifier) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return base64url(new Uint8Array(digest))
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
