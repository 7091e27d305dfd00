import { Problem } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import { scopesText } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, DELETED, jsonBody, USER } from '../describe/description.ts'
import { ANY_OBJECT, record, resultsOf, TEXT, whole } from '../describe/schema.ts'
import { empty, json, type Reply } from '../reply.ts'
import { readRoute, streamRoute } from '../route.ts'
import { addressOf, SIGNED_IN, shownSession, shownUser, signedIn, subjectOf, textsOf } from './answers.ts'
import { clearCookie } from './cookie.ts'
import { passwordsOf } from './passwords.ts'
import { demandSameOrigin } from './same-origin.ts'
import { takeAttempt } from './throttle.ts'

/** Signing in with a password, signing out, and what sessions there are. */
const CALLER = record(
  '',
  {
    actor: TEXT,
    onBehalfOf: TEXT,
    user: ANY_OBJECT,
    scopes: { type: 'array', items: TEXT },
    filter: ANY_OBJECT,
    limits: ANY_OBJECT,
    csrf: TEXT,
  },
  ['actor', 'scopes', 'filter'],
)

export const sessionRoutes: readonly Route[] = [
  streamRoute('POST /session', {
    summary: 'Sign in with an e-mail address and a password',
    needs: 'no key',
    repeats: true,
    uses: 'passwords',
    body: jsonBody(
      whole({ email: TEXT, password: TEXT }),
      { email: 'ada@example.com', password: 'correct horse battery' },
      'The address and the password of a person.',
    ),
    answers: SIGNED_IN,
    handle: signIn,
  }),
  streamRoute('POST /session/reset', {
    summary: 'Send a link to set a new password',
    description:
      'The answer is the same for every address. The link goes to the person with this address, if there is one.',
    needs: 'no key',
    repeats: true,
    body: jsonBody(whole({ email: TEXT }), { email: 'ada@example.com' }, 'The address of a person.'),
    answers: { 202: answer(whole({ message: TEXT })) },
    handle: reset,
  }),
  readRoute('GET /session', {
    summary: 'Read the caller, and the CSRF token of a session',
    needs: 'any valid key',
    answers: { 200: answer(CALLER) },
    handle: whoAmI,
  }),
  streamRoute('DELETE /session', { summary: 'Sign out', needs: 'a session', answers: DELETED, handle: signOut }),
  readRoute('GET /account/sessions', {
    summary: 'List the sessions of a person',
    needs: 'a session or admin:identity',
    params: [USER],
    answers: { 200: answer(resultsOf()) },
    handle: sessions,
  }),
  streamRoute('DELETE /account/sessions/:id', {
    summary: 'End a session',
    needs: 'a session or admin:identity',
    answers: DELETED,
    handle: endSession,
  }),
]

/** Every failure has the same answer and duration, so that it does not reveal which accounts exist. */
async function signIn(call: Call): Promise<Reply> {
  demandSameOrigin(call)
  const { identity, slug } = call.tenant
  const { email, password } = textsOf(call, ['email', 'password'])
  const attempt = takeAttempt(slug, email.toLowerCase(), addressOf(call))
  const passwords = passwordsOf(call)
  const user = identity.userByEmail(email)
  const isActive = user?.status === 'Active'
  const known = isActive ? identity.credential(`password:${user.id}`) : null
  const isRight = await passwords.verify(password, (known?.data.hash as string | undefined) ?? null)
  // The person may have been suspended meanwhile.
  if (!isRight || !known || !user || identity.grantOf(user.id) === null) throw wrong()
  attempt.succeeded()
  identity.useCredential(known.id, known.data)
  return signedIn(call, user, 'password')
}

/** Says nothing about the account, by its answer or by its duration. */
function reset(call: Call): Reply {
  demandSameOrigin(call)
  const { tenant, writes, newBudget, report } = call
  const { email } = textsOf(call, ['email'])
  takeAttempt(tenant.slug, `reset ${email.toLowerCase()}`, addressOf(call))
  const user = tenant.identity.userByEmail(email)
  if (user) {
    const person = { ...OPERATOR, actor: user.id }
    tenant.write(person, writes, newBudget(), (write) => write.resetPassword(user.id)).catch(report)
  }
  return json(202, { message: 'If a person has this address, a link was sent to it.' })
}

function wrong(): Problem {
  return new Problem('unauthorized', 'The e-mail address or the password is wrong.')
}

function whoAmI(call: Call): Reply {
  const { tenant, grant, sender } = call
  const user = tenant.identity.user(grant.onBehalfOf ?? grant.actor)
  const body = {
    actor: grant.actor,
    ...(grant.onBehalfOf && { onBehalfOf: grant.onBehalfOf }),
    ...(user && { user: shownUser(user) }),
    scopes: grant.scopes.map((scope) => scopesText([scope])),
    filter: grant.rows,
    ...(grant.limits && { limits: grant.limits }),
    ...(sender.kind === 'session' && { csrf: tenant.identity.csrf(sender.secret) }),
  }
  return json(200, body, { 'cache-control': 'no-store' })
}

function signOut({ tenant, grant, sender, request }: Call): Reply {
  if (sender.kind !== 'session' || grant.credential === undefined)
    throw new Problem('not_found', 'There is no session to end. To end an API key, revoke it.')
  tenant.identity.end(grant.credential)
  return empty(204, { 'set-cookie': clearCookie(request, tenant.slug) })
}

function sessions(call: Call): Reply {
  const results = call.tenant.identity
    .sessions(subjectOf(call))
    .map((one) => shownSession(one, call.sender.kind === 'session' ? call.grant.credential : undefined))
  return json(200, { results, total: results.length })
}

function endSession(call: Call): Reply {
  const { identity } = call.tenant
  const session = identity.token(call.params.id!)
  const own = call.sender.kind === 'session' ? call.grant.actor : null
  // Of others only administrators learn whether there is such a session.
  if (session?.user !== own) call.read.demand('admin', call.read.noun('User'))
  if (session?.kind !== 'session') throw new Problem('not_found', `There is no session ${call.params.id}.`)
  identity.end(session.id)
  return empty(204)
}
