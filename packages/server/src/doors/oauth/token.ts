import type { Scope } from '@tildebase/tenant'
import { common, scopesText, type Token, uncovered } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, formBody } from '../describe/description.ts'
import { ANY_OBJECT, record, TEXT, WHOLE } from '../describe/schema.ts'
import type { Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { OAuthError, oauthErrors, oauthReply, withOAuthErrors } from './error.ts'
import { formOf, needed } from './form.ts'
import { domainOf, onlyOf, wordsOf } from './request.ts'

const HOUR = 3_600_000
const ACCESS_MS = HOUR
const REFRESH_MS = 30 * 24 * HOUR
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const VERIFIER = /^[\w.~-]{43,128}$/

const TOKENS = record(
  '',
  { access_token: TEXT, token_type: { const: 'Bearer' }, expires_in: WHOLE, refresh_token: TEXT, scope: TEXT },
  ['access_token', 'token_type', 'expires_in'],
)

/** Codes and refresh tokens for access tokens, and their end. */
export const tokenRoutes: readonly Route[] = [
  streamRoute('POST /oauth/token', {
    summary: 'Get an access token',
    needs: 'no key',
    repeats: true,
    rawBody: true,
    body: formBody({ grant_type: 'authorization_code', client_id: 'client_0VxGq3mZ8kLrT2wY' }),
    answers: {
      200: answer(TOKENS),
      ...oauthErrors(
        'invalid_request',
        'invalid_grant',
        'invalid_scope',
        'invalid_target',
        'unsupported_grant_type',
        // Of a device, RFC 8628.
        'authorization_pending',
        'slow_down',
        'access_denied',
        'expired_token',
      ),
    },
    handle: (call) => withOAuthErrors(() => tokenFor(call)),
  }),
  streamRoute('POST /oauth/revoke', {
    summary: 'Revoke an access token or a refresh token',
    needs: 'no key',
    repeats: true,
    rawBody: true,
    body: formBody({ token: 'tbr_…' }),
    answers: { 200: answer(ANY_OBJECT), ...oauthErrors('invalid_request', 'invalid_client') },
    handle: (call) => withOAuthErrors(() => revoke(call)),
  }),
]

function tokenFor(call: Call): Reply {
  const fields = formOf(call)
  switch (needed(fields, 'grant_type')) {
    case 'authorization_code':
      return byCode(call, fields)
    case 'refresh_token':
      return byRefresh(call, fields)
    case DEVICE:
      return byDevice(call, fields)
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type must be authorization_code, refresh_token or device_code.',
      )
  }
}

function byCode(call: Call, fields: ReadonlyMap<string, string>): Reply {
  const { identity, clock } = { identity: call.tenant.identity, clock: call.read.now }
  const token = identity.use('code', needed(fields, 'code'))
  if (!token) throw refused()
  // A code that comes twice was stolen, before or after: what it led to ends.
  if (token.usedAt !== null) {
    identity.endConsent(token.consent!)
    throw refused()
  }
  const { client, redirect, challenge, lasts } = token.data as { [name: string]: string | number }
  const verifier = needed(fields, 'code_verifier')
  const isRight =
    clock - token.createdAt <= Number(lasts) &&
    needed(fields, 'client_id') === client &&
    (fields.get('redirect_uri') ?? redirect) === redirect &&
    VERIFIER.test(verifier) &&
    sha256(call, verifier) === challenge
  if (!isRight) {
    identity.endConsent(token.consent!)
    throw refused()
  }
  return issue(call, token, demandTarget(call, fields, token))
}

function byRefresh(call: Call, fields: ReadonlyMap<string, string>): Reply {
  const { identity } = call.tenant
  const [secret, client] = [needed(fields, 'refresh_token'), needed(fields, 'client_id')]
  const token = identity.find('refresh', secret)
  if (!token) throw refused()
  // Each refresh token works once. One that comes again is in two hands: both lose.
  if (token.usedAt !== null || token.data.client !== client) {
    identity.endConsent(token.consent!)
    throw refused()
  }
  // A request for another resource is refused, and does not use the token up.
  const only = demandTarget(call, fields, token)
  const scopes = demandScopes(call, fields, token)
  identity.use('refresh', secret)
  return issue(call, token, only, scopes)
}

function byDevice(call: Call, fields: ReadonlyMap<string, string>): Reply {
  const { identity } = call.tenant
  const token = identity.find('device', needed(fields, 'device_code'))
  if (!token || token.data.client !== needed(fields, 'client_id'))
    throw new OAuthError('expired_token', 'The device code has expired.')
  const now = call.read.now
  const asked = (token.data.asked as number | undefined) ?? 0
  if (token.data.state === 'waiting') {
    identity.change({ ...token, data: { ...token.data, asked: now } })
    if (now - asked < 4_000) throw new OAuthError('slow_down', 'Poll at most every five seconds.')
    throw new OAuthError('authorization_pending', 'The person has not decided yet.')
  }
  identity.end(token.id)
  if (token.data.state !== 'allowed' || token.consent === null)
    throw new OAuthError('access_denied', 'The person denied the request.')
  return issue(call, token, (token.data.only as string | null) ?? null)
}

/** The path that a token is for. A client may name its resource again, and then it must be the same. */
function demandTarget(call: Call, fields: ReadonlyMap<string, string>, token: Token): string | null {
  const only = (token.data.only as string | null | undefined) ?? null
  const asked = fields.get('resource')
  if (asked === undefined) return only
  const named = onlyOf(call, asked)
  if (named === only || (named !== undefined && only === null)) return named ?? null
  throw new OAuthError('invalid_target', 'resource differs from the one that the person approved.')
}

/** The scopes that a client narrows its next token to: at most those that the person allowed; null is all of them. */
function demandScopes(
  { tenant: { identity }, read }: Call,
  fields: ReadonlyMap<string, string>,
  { consent }: Token,
): readonly Scope[] | null {
  const words = wordsOf(fields.get('scope'))
  if (words.length === 0) return null
  const asked = identity.scopes(words.join(','))
  const allowed = identity.scopes(String(identity.consent(consent!)?.data.scopes ?? ''))
  if (asked.length === words.length && uncovered(allowed, asked, (area) => domainOf(read, area)) === null) return asked
  throw new OAuthError('invalid_scope', 'scope may only have what the person allowed.')
}

function issue(
  call: Call,
  { user, consent, data }: Token,
  only: string | null,
  asked: readonly Scope[] | null = null,
): Reply {
  const { identity } = call.tenant
  const grant = identity.consentGrant(consent!)
  if (grant === null) throw refused()
  const scopes = asked ? common(asked, grant.scopes, (area) => domainOf(call.read, area)) : grant.scopes
  const about = {
    client: data.client ?? null,
    ...(only !== null && { only }),
    ...(asked && { scopes: scopesText(asked) }),
  }
  const access = identity.issue('access', { user, consent, data: about, lastsMs: ACCESS_MS })
  const kept = { client: data.client ?? null, only: (data.only as string | null | undefined) ?? null }
  const refresh = identity.issue('refresh', { user, consent, data: kept, lastsMs: REFRESH_MS })
  return oauthReply({
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_MS / 1_000,
    refresh_token: refresh,
    scope: scopesText(scopes).replaceAll(',', ' '),
  })
}

/** Ends a token. With a refresh token all that the person allowed the client ends. */
function revoke(call: Call): Reply {
  const { identity } = call.tenant
  const fields = formOf(call)
  const secret = needed(fields, 'token')
  const refresh = identity.find('refresh', secret)
  const access = identity.find('access', secret)
  const client = fields.get('client_id')
  const found = refresh ?? access
  if (found && client !== undefined && found.data.client !== client)
    throw new OAuthError('invalid_client', 'The token belongs to another client.')
  if (refresh?.consent) identity.endConsent(refresh.consent)
  else if (access) identity.end(access.id)
  return oauthReply({})
}

/** One answer for every reason: a guess learns nothing. */
function refused(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The code or the token is not valid, was already used, or belongs to another client.',
  )
}

/** The SHA-256 of a string as base64url. */
function sha256({ read }: Call, text: string): string {
  const hasher = read.hasher()
  hasher.update(text)
  return btoa(String.fromCharCode(...hasher.digest()))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
