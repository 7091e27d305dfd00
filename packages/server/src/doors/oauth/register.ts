import { Problem } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { record, TEXT, WHOLE } from '../describe/schema.ts'
import { addressOf } from '../identity/answers.ts'
import { TokenBuckets } from '../limits/token-buckets.ts'
import type { Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { metadataOf } from './clients.ts'
import { oauthErrors, oauthReply, withOAuthErrors } from './error.ts'

const HOUR = 3_600_000
const PER_ADDRESS = 60
/** Clients that no person has consented to. They are forgotten after a week, or when there are too many. */
const MOST_UNUSED = 1_000

const registrations = new TokenBuckets(PER_ADDRESS, HOUR, () => performance.now())

/** Clients that make themselves known (RFC 7591). They get no rights by it: a person decides about those. */
export const registerRoutes: readonly Route[] = [
  streamRoute('POST /oauth/register', {
    summary: 'Register an OAuth client',
    needs: 'no key',
    repeats: true,
    body: jsonBody(
      record('', { client_name: TEXT, redirect_uris: { type: 'array', items: TEXT } }, ['redirect_uris']),
      { client_name: 'My application', redirect_uris: ['https://app.example/callback'] },
      'The metadata of the client, RFC 7591.',
    ),
    answers: {
      201: answer({
        ...record('', { client_id: TEXT, client_id_issued_at: WHOLE }, ['client_id']),
        additionalProperties: true,
      }),
      ...oauthErrors('invalid_redirect_uri', 'invalid_client_metadata'),
    },
    handle: (call) => withOAuthErrors(() => register(call)),
  }),
]

function register(call: Call): Reply {
  const { identity, slug } = call.tenant
  const left = registrations.take(JSON.stringify([slug, addressOf(call)]))
  if (left < 0) {
    const retryAfter = Math.max(1, Math.ceil(registrations.secondsTo(-left)))
    throw new Problem('rate_limited', 'Your address has registered too many clients. Try again later.', { retryAfter })
  }
  const data = metadataOf(call.body)
  identity.makeRoomForClients(MOST_UNUSED)
  const client = identity.saveClient(data)
  const answer = {
    client_id: client.id,
    client_id_issued_at: Math.floor(client.createdAt / 1_000),
    ...data,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
  return oauthReply(answer, 201)
}
