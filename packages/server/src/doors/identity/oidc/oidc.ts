import { Problem } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import { type Call, type Route, textParam } from '../../call.ts'
import { answer, HTML } from '../../describe/description.ts'
import { ref } from '../../describe/schema.ts'
import { messagePage } from '../../oauth/consent-page.ts'
import { empty, type Reply } from '../../reply.ts'
import { streamRoute } from '../../route.ts'
import { signedIn } from '../answers.ts'
import { cookieOf, pathCookie } from '../cookie.ts'
import type { OidcSettings } from '../ports.ts'

const TEN_MINUTES = 600_000
/** A provider sends the state back in a URL. */
const LONGEST_RETURN = 2_000
const COOKIE = 'tilde_oidc'

/** Signing in with the provider that the operator has set. */
export const oidcRoutes: readonly Route[] = [
  streamRoute('GET /session/oidc', {
    summary: 'Sign in with the OIDC provider of the operator',
    needs: 'no key',
    uses: 'oidc',
    answers: { 302: {} },
    handle: start,
  }),
  streamRoute('GET /session/oidc/callback', {
    summary: 'Return from the OIDC provider',
    needs: 'no key',
    uses: 'oidc',
    answers: {
      303: {},
      401: answer(ref('Error'), { description: 'A page: the person is not signed in.', content: HTML }),
    },
    handle: finish,
  }),
]

/** Loads the protocol with the first sign-in: most services have no provider. */
const client = () => import('./oidc-client.ts')

async function start(call: Call): Promise<Reply> {
  const { authorizationUrl, newVerifier } = await client()
  const settings = settingsOf(call)
  const { identity, slug } = call.tenant
  const [nonce, verifier, browser] = [newVerifier(), newVerifier(), newVerifier()]
  const data = { purpose: 'oidc', nonce, verifier, browser: identity.digest(browser), back: returnOf(call) }
  const state = identity.seal(data, TEN_MINUTES)
  const location = await authorizationUrl(settings, callback(call), { state, nonce, verifier })
  // The answer must reach the browser that started the sign-in: an attacker cannot sign another browser in.
  const cookie = pathCookie(call.request, COOKIE, browser, `/~${slug}/session/oidc`, TEN_MINUTES / 1_000)
  return empty(302, { location, 'set-cookie': cookie, 'cache-control': 'no-store' })
}

async function finish(call: Call): Promise<Reply> {
  const { verifiedEmail } = await client()
  const settings = settingsOf(call)
  const { identity } = call.tenant
  const state = textParam(call.query, 'state') ?? ''
  const kept = identity.spend(state)
  const browser = cookieOf(call.request.headers.cookie, COOKIE)
  const isOwn = browser !== null && kept?.browser === identity.digest(browser)
  if (kept?.purpose !== 'oidc' || !isOwn)
    return failed(call, 'This sign-in has expired or was already used. Start again.')
  const { nonce, verifier, back } = kept as { nonce: string; verifier: string; back: string }
  const parameters = new URLSearchParams(call.request.query)
  const email = await verifiedEmail(settings, callback(call), parameters, { state, nonce, verifier }).catch(
    (reason) => {
      call.report(reason)
      return null
    },
  )
  const user = email === null ? null : identity.userByEmail(email)
  if (!user || (user.status !== 'Active' && user.status !== 'Invited'))
    return failed(call, 'There is no account for your verified e-mail address. Ask an administrator for an invitation.')
  if (user.status === 'Invited') {
    const person = { ...OPERATOR, actor: user.id }
    await call.tenant.write(person, call.writes, call.budget, (write) =>
      write.run({ type: 'User', verb: 'activate', id: user.id }),
    )
  }
  const { headers } = signedIn(call, identity.user(user.id)!, 'oidc')
  return empty(303, { ...headers, location: back })
}

function failed(call: Call, message: string): Reply {
  const { status, headers, body } = messagePage(call, 'You are not signed in', message, 401)
  return { status, headers, content: { value: () => body, text: () => String(body) } }
}

function settingsOf({ identity }: Call): OidcSettings {
  if (identity.oidc) return identity.oidc
  throw new Problem('not_supported', 'No OIDC provider is configured: see TILDE_OIDC_ISSUER.')
}

/** One address for all tenants, so that the provider knows it in advance. The tenant follows from the state. */
function callback({ context }: Call): string {
  return `${context.slice(0, context.lastIndexOf('/~'))}/oidc/callback`
}

/** Where the person continues: to a page of this tenant or to the console, and never to another site. */
function returnOf({ tenant: { slug }, query }: Call): string {
  const home = `/console#/~${slug}`
  const asked = textParam(query, 'return') ?? ''
  if (!/^\/(?!\/|\\)/.test(asked) || asked.length > LONGEST_RETURN) return home
  const { origin, pathname, search, hash } = new URL(asked, 'https://here.invalid')
  const isOwn = pathname.startsWith(`/~${slug}/`) || pathname === '/console'
  return origin === 'https://here.invalid' && isOwn ? `${pathname}${search}${hash}` : home
}
