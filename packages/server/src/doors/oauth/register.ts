import { Problem } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { addressOf } from '../identity/answers.ts'
import { TokenBuckets } from '../limits/token-buckets.ts'
import type { Reply } from '../reply.ts'
import { metadataOf } from './clients.ts'
import { oauthReply, withOAuthErrors } from './error.ts'

const HOUR = 3_600_000
const PER_ADDRESS = 60
/** Clients that no person has consented to. They are forgotten after a week, or when there are too many. */
const MOST_UNUSED = 1_000

const registrations = new TokenBuckets(PER_ADDRESS, HOUR, () => performance.now())

/** Clients that make themselves known (RFC 7591). They get no rights by it: a person decides about those. */
export const registerRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/oauth/register',
    needs: 'public',
    mode: 'stream',
    repeats: true,
    summary: 'Register an OAuth client',
    handle: (call) => withOAuthErrors(() => register(call)),
  },
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
