import { isoOf, Problem } from '@tildebase/nouns'
import { type Consent, personOf } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, DELETED, USER } from '../describe/description.ts'
import { resultsOf } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, streamRoute } from '../route.ts'
import { clientHost, clientName } from './clients.ts'

/** What people allowed to clients: to list, and to take back. */
export const consentRoutes: readonly Route[] = [
  readRoute('GET /account/tokens', {
    summary: 'List the agents that act for people',
    needs: 'a session or admin:identity',
    params: [USER],
    answers: { 200: answer(resultsOf()) },
    handle: list,
  }),
  streamRoute('DELETE /account/tokens/:id', {
    summary: 'Revoke the tokens of an agent',
    needs: 'a session or admin:identity',
    answers: DELETED,
    handle: revoke,
  }),
]

/** A person's own, or for administrators those of `user`, or of all people. */
function list(call: Call): Reply {
  const { identity } = call.tenant
  const own = call.sender.kind === 'session' ? personOf(call.grant) : null
  const named = call.query.get('user') ?? own
  if (own === null || named !== own) call.read.demand('admin', call.read.noun('User'))
  const user = typeof named === 'string' && named !== 'all' ? named : null
  const results = identity.consents(user).map((consent) => shown(call, consent))
  return json(200, { results, total: results.length, subscriptions: subscriptionsOf(call, user, results) })
}

/** The subscriptions of these tokens; administrators who ask about all people also see those of API keys. */
function subscriptionsOf({ tenant }: Call, user: string | null, tokens: readonly { readonly id: string }[]): object[] {
  const shown = new Set(tokens.map(({ id }) => id))
  return tenant.subscriptions.all.filter(({ token }) =>
    token === undefined ? user === null : shown.has(token as string),
  )
}

function revoke(call: Call): Reply {
  const { identity } = call.tenant
  const consent = identity.consent(call.params.id!)
  const own = call.sender.kind === 'session' ? personOf(call.grant) : null
  // Of others only administrators learn whether there is such a consent.
  if (own === null || consent?.user !== own) call.read.demand('admin', call.read.noun('User'))
  if (!consent) throw new Problem('not_found', `There is no token ${call.params.id}.`)
  identity.endConsent(consent.id)
  return empty(204)
}

function shown({ tenant }: Call, { id, client: clientId, user, data, createdAt, usedAt }: Consent) {
  const client = tenant.identity.client(clientId)
  return {
    id,
    user,
    client: client && { id: client.id, agent: client.agent, name: clientName(client), host: clientHost(client) },
    ...data,
    createdAt: isoOf(createdAt),
    lastUsedAt: usedAt === null ? null : isoOf(usedAt),
  }
}
