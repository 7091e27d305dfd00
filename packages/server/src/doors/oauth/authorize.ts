import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Grant } from '@tildebase/tenant'
import { personOf, type Token, type User } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, formBody, HTML } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ref } from '../describe/schema.ts'
import type { HttpResponse } from '../http.ts'
import { demandSameOrigin } from '../identity/same-origin.ts'
import { empty, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { clientOf } from './clients.ts'
import { allowedBy } from './consent.ts'
import { consentPage, messagePage } from './consent-page.ts'
import { OAuthError } from './error.ts'
import { fieldsOf, formOf, needed } from './form.ts'
import { redirectTo } from './redirects.ts'
import { authorizationOf, keptRequest, RedirectError } from './request.ts'

const MINUTE = 60_000
/** How long a person may think, and how long a code can be used. It is remembered for longer, to know it when it comes again. */
const DECISION_MS = 10 * MINUTE
const CODE_MS = MINUTE
const CODE_KEPT_MS = 30 * MINUTE

/** The parameters of RFC 6749, 7636 and 8707. */
const PARAMETERS = [
  query('response_type', 'Only code is supported.', 'code'),
  query('client_id', 'The id of a registered client, or the URL of its metadata.', 'client_0VxGq3mZ8kLrT2wY'),
  query('redirect_uri', 'One of the addresses of the client.', 'https://app.example/callback'),
  query('code_challenge', 'The SHA-256 of the verifier, as base64url.', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
  query('code_challenge_method', 'Only S256 is supported.', 'S256'),
  query('scope', 'The scopes that the client asks for, separated by spaces.', 'read:crm'),
  query('state', 'A text that the client gets back.', 'af0ifjsldkj'),
  query('resource', 'The URL of the tenant, or of its /mcp.', 'https://tilde.example/~acme/mcp'),
]
const SENT_ON = { 302: { description: 'The person signs in first, or the client gets an error.' } }
const INVALID = answer(ref('Error'), {
  description: 'A page: the request is not valid, and the client is not certain.',
  content: HTML,
})

/** The page on which a person decides about a client. */
export const authorizeRoutes: readonly Route[] = [
  streamRoute('GET /oauth/authorize', {
    summary: 'Ask a person whether a client may act for them',
    needs: 'no key',
    params: PARAMETERS,
    answers: { 200: { content: HTML }, ...SENT_ON, 400: INVALID },
    handle: (call) => guarded(call, () => ask(call)),
  }),
  streamRoute('POST /oauth/authorize', {
    summary: 'Allow a client, or deny it',
    needs: 'no key',
    repeats: true,
    rawBody: true,
    body: formBody({ request: 'kC3x…', decision: 'allow' }),
    answers: {
      200: { description: 'A page for the person: a device is connected, or the form has an error.', content: HTML },
      303: { description: 'The client gets a code, or an error.' },
      400: INVALID,
    },
    handle: (call) => guarded(call, () => decide(call)),
  }),
]

/** The person who is signed in on this browser, or null. */
export function signedInPerson({ sender, grant, tenant }: Call): { grant: Grant; user: User } | null {
  const id = sender.kind === 'session' ? personOf(grant) : null
  const user = id === null ? null : tenant.identity.user(id)
  return user && { grant, user }
}

/** Sends the browser to the page for signing in, and back here. */
export function toSignIn({ tenant, request }: Call): Reply {
  const back = `${request.path}${request.query && `?${request.query}`}`
  return empty(302, {
    location: `/~${tenant.slug}/sign-in?return=${encodeURIComponent(back)}`,
    'cache-control': 'no-store',
  })
}

export function pageReply({ status, headers, body }: HttpResponse): Reply {
  return { status, headers, content: { value: () => body, text: () => String(body) } }
}

async function ask(call: Call): Promise<Reply> {
  const person = signedInPerson(call)
  if (person === null) return toSignIn(call)
  const { tenant } = call
  const request = await authorizationOf(call, fieldsOf(call.request.query), person.grant)
  const token = tenant.identity.issue('request', {
    user: person.user.id,
    data: { ...keptRequest(request), session: person.grant.credential ?? '' },
    lastsMs: DECISION_MS,
  })
  const { client, scopes, redirect } = request
  return pageReply(consentPage(call, { client, scopes, redirect, user: person.user, request: token }))
}

async function decide(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const { identity } = call.tenant
  const fields = formOf(call)
  const person = signedInPerson(call)
  const secret = needed(fields, 'request')
  const kept = identity.find('request', secret)
  const isOwn = person && kept?.user === person.user.id && kept.data.session === person.grant.credential
  if (!kept || !isOwn)
    throw new OAuthError('invalid_request', 'This page has expired. Start again from the application.')
  const client = identity.client(kept.data.client as string) ?? (await clientOf(call, kept.data.client as string))
  if (fields.get('decision') !== 'allow') {
    identity.end(kept.id)
    return answered(call, kept, { error: 'access_denied', error_description: 'The person denied the request.' })
  }
  const scopes = identity.scopes(kept.data.scopes as string)
  let consent: string
  try {
    const allowed = allowedBy(call, fields, scopes, person.grant)
    identity.end(kept.id)
    consent = identity.saveConsent(client.id, person.user.id, allowed as unknown as JsonObject)
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    const redirect = kept.data.redirect as string | null
    const view = { client, scopes, redirect, user: person.user, request: secret, error: reason.message }
    return pageReply(consentPage(call, view))
  }
  return answered(call, kept, { consent })
}

/** Sends the decision of the person to the client or the device. */
function answered(call: Call, { user, data }: Token, decision: { readonly [name: string]: string }): Reply {
  const { identity } = call.tenant
  const { consent, ...error } = decision
  if (typeof data.device === 'string') {
    const device = identity.token(data.device)
    if (device)
      identity.change({
        id: device.id,
        user: user!,
        consent: consent ?? null,
        data: { ...device.data, state: consent ? 'allowed' : 'denied' },
      })
    const message = consent ? 'You can go back to your device.' : 'The device was not connected.'
    return pageReply(messagePage(call, consent ? 'Connected' : 'Denied', message, 200))
  }
  const { redirect, state, challenge, client, only } = data as { [name: string]: string | null }
  const parameters: { [name: string]: string | null } = { ...error, state: state ?? null, iss: call.context }
  if (consent !== undefined) {
    parameters.code = identity.issue('code', {
      user: user!,
      consent,
      data: { redirect: redirect!, challenge: challenge!, client: client!, only: only ?? null, lasts: CODE_MS },
      lastsMs: CODE_KEPT_MS,
    })
  }
  return empty(303, { location: redirectTo(redirect!, parameters), 'cache-control': 'no-store' })
}

/** Errors of which the client can be certain go to it; all others are shown to the person, who stays here. */
async function guarded(call: Call, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (reason) {
    if (reason instanceof RedirectError) {
      const { code, message, redirect, state } = reason
      const location = redirectTo(redirect, { error: code, error_description: message, state, iss: call.context })
      return empty(302, { location, 'cache-control': 'no-store' })
    }
    if (!(reason instanceof OAuthError)) throw reason
    return pageReply(messagePage(call, 'This request is not valid', reason.message, 400))
  }
}
