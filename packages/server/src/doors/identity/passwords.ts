import { invalid, Problem } from '@tildebase/nouns'
import type { Call, Route } from '../call.ts'
import { jsonBody } from '../describe/description.ts'
import { record, TEXT } from '../describe/schema.ts'
import { empty, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'
import { addressOf, ownerOf, textsOf } from './answers.ts'
import type { Passwords } from './ports.ts'
import { takeAttempt } from './throttle.ts'

const SHORTEST = 12
const LONGEST = 256

/** A person's own password. */
export const passwordRoutes: readonly Route[] = [
  streamRoute('PUT /account/password', {
    summary: 'Set or change your password',
    needs: 'a session',
    uses: 'passwords',
    body: jsonBody(
      record('', { current: TEXT, password: TEXT }, ['password']),
      { current: 'correct horse battery', password: 'a longer password than before' },
      'The present password, if there is one, and the new one.',
    ),
    answers: { 204: {} },
    handle: change,
  }),
]

/** The host's passwords, or the problem of having none. */
export function passwordsOf({ identity }: Call): Passwords {
  if (identity.passwords) return identity.passwords
  throw new Problem(
    'not_supported',
    'This host has no Argon2, so it does not support passwords. Use a passkey instead.',
  )
}

/** Refuses a password that is too short to keep, or too long to hash. */
export function demandPassword(password: string, email: string): void {
  const length = [...password].length
  const message =
    length < SHORTEST || length > LONGEST
      ? `must have ${SHORTEST} to ${LONGEST} characters`
      : password.toLowerCase().includes(email.toLowerCase())
        ? 'must not contain your e-mail address'
        : new Set(password).size < 5
          ? 'must not consist of a few repeated characters'
          : null
  if (message !== null) throw invalid('User', [{ field: 'password', message }])
}

/**
 * Changes the password. A person without a password who signed in with a passkey can set one; all other sessions end.
 */
async function change(call: Call): Promise<Reply> {
  const { identity, slug } = call.tenant
  const passwords = passwordsOf(call)
  const user = identity.user(ownerOf(call))!
  const { password } = textsOf(call, ['password'])
  demandPassword(password, user.email)
  const id = `password:${user.id}`
  const known = identity.credential(id)
  if (known) {
    const { current } = textsOf(call, ['current'])
    const attempt = takeAttempt(slug, user.email.toLowerCase(), addressOf(call))
    if (!(await passwords.verify(current, known.data.hash as string)))
      throw new Problem('forbidden', 'The current password is wrong.', { field: 'current' })
    attempt.succeeded()
  }
  const hash = await passwords.hash(password)
  identity.saveCredential({ id, user: user.id, kind: 'password', data: { hash } })
  for (const session of identity.sessions(user.id)) if (session.id !== call.grant.credential) identity.end(session.id)
  return empty(204)
}
