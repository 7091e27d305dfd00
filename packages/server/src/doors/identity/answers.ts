import { isoOf, isPlainObject, Problem } from '@tildebase/nouns'
import { personOf, type Token, type User } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, TEXT, TIME, whole } from '../describe/schema.ts'
import { json, type Reply } from '../reply.ts'
import { setCookie } from './cookie.ts'

/** How a sign-in is answered. */
export const SIGNED_IN = { 201: answer(whole({ user: ANY_OBJECT, csrf: TEXT, expiresAt: TIME })) }

/** The body that names an invitation. */
export const INVITATION = jsonBody(
  whole({ token: TEXT }),
  { token: 'inv_0VxGq3mZ8kLrT2wYbN4cDe' },
  'The token of the invitation.',
)

/** The answer to a person who signed in. */
export function signedIn(call: Call, user: User, method: string): Reply {
  const { tenant, request } = call
  const about = { method, address: addressOf(call), agent: (request.headers['user-agent'] ?? '').slice(0, 200) }
  const { secret, session } = tenant.identity.startSession(user.id, about)
  const body = { user: shownUser(user), csrf: tenant.identity.csrf(secret), expiresAt: isoOf(session.expiresAt) }
  return json(201, body, { 'set-cookie': setCookie(request, tenant.slug, secret), 'cache-control': 'no-store' })
}

export function shownUser({ id, name, email, role }: User): object {
  return { $id: id, name, email, role }
}

export function shownSession({ id, data, createdAt, usedAt, expiresAt }: Token, current: string | undefined): object {
  return {
    id,
    ...data,
    current: id === current,
    createdAt: isoOf(createdAt),
    lastUsedAt: isoOf(usedAt ?? createdAt),
    expiresAt: isoOf(expiresAt),
  }
}

/** The fields of a body that must be texts of this length at most. */
export function textsOf<Name extends string>(call: Call, names: readonly Name[], most = 2_000): Record<Name, string> {
  const { body } = call
  if (!isPlainObject(body)) throw new Problem('invalid_body', `Send a JSON object with ${names.join(' and ')}.`)
  const texts: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = body[name]
    if (typeof value !== 'string' || value === '' || value.length > most)
      throw new Problem('invalid_body', `${name} must be a string of 1 to ${most} characters.`, { field: name })
    texts[name] = value
  }
  return texts as Record<Name, string>
}

export function addressOf({ sender }: Call): string {
  return 'address' in sender ? (sender.address ?? '') : ''
}

/** The person who signed in. Keys and agents do not manage how a person signs in. */
export function ownerOf({ sender, grant }: Call): string {
  const person = sender.kind === 'session' ? personOf(grant) : null
  if (person !== null) return person
  throw new Problem('not_found', 'There is no account here: only signed-in people have one.')
}

/** The person that a list is about: the one who signed in, or for administrators the one that `user` names. */
export function subjectOf(call: Call): string {
  const named = call.query.get('user')
  const own = call.sender.kind === 'session' ? personOf(call.grant) : null
  if (typeof named !== 'string' || named === own) {
    if (own !== null) return own
    throw new Problem('invalid_parameter', 'Name the person with ?user=user_….', { field: 'user' })
  }
  call.read.demand('admin', call.read.noun('User'))
  return named
}
