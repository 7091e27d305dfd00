import { type Call, type Route, textParam } from '../call.ts'
import { answer, formBody, HTML } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { TEXT, WHOLE, whole } from '../describe/schema.ts'
import { addressOf } from '../identity/answers.ts'
import { takeAttempt } from '../identity/throttle.ts'
import { html, page } from '../pages/html.ts'
import { languageOf } from '../pages/language.ts'
import type { Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { pageReply, signedInPerson, toSignIn } from './authorize.ts'
import { clientOf } from './clients.ts'
import { consentPage, messagePage } from './consent-page.ts'
import { OAuthError, oauthErrors, oauthReply, withOAuthErrors } from './error.ts'
import { formOf, needed } from './form.ts'
import { onlyOf, scopesFor } from './request.ts'

const MINUTE = 60_000
const DEVICE_MS = 15 * MINUTE
/** Open codes of one address, and of all. */
const MOST_OF_ADDRESS = 10
const MOST_WAITING = 500
/** Without vowels, so that no words come out, and without letters that look alike. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** Connects a program that has no browser (RFC 8628): it shows a code, and a person enters it elsewhere. */
export const deviceRoutes: readonly Route[] = [
  streamRoute('POST /oauth/device', {
    summary: 'Get a code to connect a program without a browser',
    needs: 'no key',
    repeats: true,
    rawBody: true,
    body: formBody({ client_id: 'client_0VxGq3mZ8kLrT2wY' }),
    answers: {
      200: answer(
        whole({
          device_code: TEXT,
          user_code: TEXT,
          verification_uri: TEXT,
          verification_uri_complete: TEXT,
          expires_in: WHOLE,
          interval: WHOLE,
        }),
      ),
      ...oauthErrors('invalid_request', 'invalid_client', 'invalid_target', 'slow_down'),
    },
    handle: (call) => withOAuthErrors(() => start(call)),
  }),
  streamRoute('GET /oauth/device', {
    summary: 'Enter the code of a program without a browser',
    needs: 'no key',
    params: [query('user_code', 'The code that the program shows.', 'BCDF-GHJK')],
    answers: {
      200: { content: HTML },
      302: { description: 'The person signs in first.' },
      403: { description: 'A page: the person has none of the rights that the program requests.', content: HTML },
      422: { description: 'A page: the code is unknown or has expired.', content: HTML },
    },
    handle: (call) => shown(call),
  }),
]

async function start(call: Call): Promise<Reply> {
  const { identity } = call.tenant
  const fields = formOf(call)
  const client = await knownClient(call, needed(fields, 'client_id'))
  const only = onlyOf(call, fields.get('resource'))
  if (only === undefined)
    throw new OAuthError('invalid_target', 'resource must be the URL of this tenant, or its /mcp.')
  const address = identity.digest(addressOf(call))
  makeRoom(call, address)
  const code = identity.randomCode(LETTERS, 8)
  const shownCode = `${code.slice(0, 4)}-${code.slice(4)}`
  const data = { client, only, code, address, scopes: (fields.get('scope') ?? '').slice(0, 500), state: 'waiting' }
  const secret = identity.issue('device', { data, lastsMs: DEVICE_MS })
  const uri = `${call.context}/oauth/device`
  return oauthReply({
    device_code: secret,
    user_code: shownCode,
    verification_uri: uri,
    verification_uri_complete: `${uri}?user_code=${shownCode}`,
    expires_in: DEVICE_MS / 1_000,
    interval: 5,
  })
}

/** Refuses an address with too many open codes. When all are in use, the address with most of them loses its oldest. */
function makeRoom({ tenant: { identity } }: Call, address: string): void {
  const waiting = Map.groupBy(identity.unclaimed('device'), ({ data }) => data.address)
  if ((waiting.get(address)?.length ?? 0) >= MOST_OF_ADDRESS)
    throw new OAuthError('slow_down', 'Too many device codes of your address are open. Try again later.')
  const lists = [...waiting.values()]
  if (lists.reduce((sum, { length }) => sum + length, 0) < MOST_WAITING) return
  const most = lists.reduce((one, other) => (other.length > one.length ? other : one))
  identity.end(most.reduce((one, other) => (other.createdAt < one.createdAt ? other : one)).id)
}

/** Without a person nothing is read from elsewhere: only clients that are known already can start here. */
async function knownClient(call: Call, id: string): Promise<string> {
  if (/^https?:/.test(id) && call.tenant.identity.client(id) === null)
    throw new OAuthError('invalid_client', 'Register the client first.')
  return (await clientOf(call, id)).id
}

async function shown(call: Call): Promise<Reply> {
  const { identity, slug } = call.tenant
  const person = signedInPerson(call)
  if (person === null) return toSignIn(call)
  const given = (textParam(call.query, 'user_code') ?? '').toUpperCase().replace(/[^A-Z]/g, '')
  // A link on a page of others must not make a person confirm a code that they did not read on their own device.
  const site = call.request.headers['sec-fetch-site'] ?? 'none'
  if (given === '' || (site !== 'none' && site !== 'same-origin')) return pageReply(entryPage(call))
  const attempt = takeAttempt(slug, `device ${person.user.id}`, addressOf(call))
  const device = identity.unclaimed('device').find(({ data }) => data.code === given && data.state === 'waiting')
  if (!device) return pageReply(entryPage(call, 'The code is unknown or has expired.'))
  attempt.succeeded()
  const client = identity.client(device.data.client as string)
  const scopes = scopesFor(call, device.data.scopes as string, person.grant)
  if (!client || scopes.length === 0)
    return pageReply(messagePage(call, 'Not possible', 'You have none of the rights that the program requests.', 403))
  const request = identity.issue('request', {
    user: person.user.id,
    data: {
      client: client.id,
      device: device.id,
      scopes: scopes.map(({ action, area }) => `${action}:${area}`).join(','),
      session: person.grant.credential ?? '',
      redirect: null,
    },
    lastsMs: DEVICE_MS,
  })
  return pageReply(consentPage(call, { client, scopes, user: person.user, request, redirect: null }))
}

function entryPage({ request, tenant: { slug } }: Call, error?: string) {
  const language = languageOf(request)
  const { say } = language
  const body = html`
<h1>${say('Connect a program')}</h1>
${error && html`<p class="error" role="alert">${say(error)}</p>`}
<form method="get" action="/~${slug}/oauth/device">
<label>${say('The code that the program shows')}
<input name="user_code" autocomplete="off" autocapitalize="characters" maxlength="20" required autofocus></label>
<div class="actions"><button type="submit" class="primary">${say('Continue')}</button></div>
</form>`
  return page(language, slug, say('Connect a program'), body, { status: error ? 422 : 200 })
}
