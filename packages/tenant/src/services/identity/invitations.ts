import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demandNoAgent } from '../../grant/grant.ts'
import { currentOf, presentOf } from '../../store/entities.ts'
import { type Credential, credentialById, dropCredentialsOf, saveCredential } from '../../store/people/credentials.ts'
import { dropToken, dropTokensOf, type Token } from '../../store/people/tokens.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { withMade } from '../keys.ts'
import { queueLetter } from '../mail/letters.ts'
import { demandPeople } from './guard.ts'
import { issueToken, tokenOf } from './secrets.ts'

const WEEK = 7 * 86_400_000

/** The verbs of User that mean more than its fields. */
export const peopleVerbs: { readonly [name: string]: SpecialVerb } = {
  'User.invite': invite,
  'User.suspend': (write, request) => withMade(write, applyVerb(write, request), request.cascade),
}

/**
 * Invites a person by e-mail, or by a URL in the answer where none can be sent. It is valid once, for a week. An earlier one
 * ends, as do all sessions.
 */
function invite(write: Write, request: Parameters<SpecialVerb>[1]): RunResult {
  const { engine, grant, context } = write
  if (grant.author) throw new Problem('forbidden', 'Stored code cannot invite people.', { type: 'User' })
  demandNoAgent(grant, 'invite people')
  const result = applyVerb(write, request)
  const user = result.entity.id
  demandPeople(write, (JSON.parse(result.entity.data) as JsonObject).role)
  dropTokensOf(write.sql, user, 'invitation')
  const { secret } = issueToken(engine, 'invitation', { user, lastsMs: WEEK })
  // What is kept for an Idempotency-Key must not contain it.
  context.secrets.add(secret)
  const invitation = `${context.url ?? engine.context}/invitation#${secret}`
  const { name, email } = JSON.parse(result.entity.data) as { name?: string; email?: string }
  const isSent = queueLetter(write, {
    to: email ?? '',
    subject: `Invitation to ${engine.slug}`,
    text: `Hello ${plain(name)},\n\nyou are invited to **${engine.slug}**.\n\n[Accept the invitation](${invitation})\n\nThe link is valid once, for seven days.`,
  })
  const extra: JsonObject = isSent ? { sent: true } : { invitation }
  return { ...result, entity: { ...result.entity, extra } }
}

/** A name in Markdown, as text. */
function plain(name = ''): string {
  return name.replace(/[^\p{L}\p{N} .'’-]+/gu, ' ').slice(0, 100)
}

const HOUR = 3_600_000

/**
 * Sends a link to a person who has forgotten their password. For other people nothing happens. The link has the address of
 * the service: everyone may ask for it, with a Host header of any kind.
 */
export function resetPassword(write: Write, user: string): void {
  const { engine, sql, context } = write
  const { status, email, name } = JSON.parse(presentOf(sql, 'User', user)?.data ?? '{}') as { [field: string]: string }
  if (status !== 'Active') return
  dropTokensOf(sql, user, 'invitation')
  const { secret } = issueToken(engine, 'invitation', { user, data: { reset: true }, lastsMs: HOUR })
  context.secrets.add(secret)
  queueLetter(write, {
    to: email ?? '',
    subject: `Your password for ${engine.slug}`,
    text: `Hello ${plain(name)},\n\nsomebody asked for a new password for your account.\n\n[Set a new password](${engine.context}/invitation#${secret})\n\nThe link is valid once, for an hour. If it was not you, do nothing.`,
  })
}

/** The invitation of a secret, if its person is still invited; a person who sets a new password is active. */
export function invitationOf(engine: Engine, secret: string): Token | null {
  const token = tokenOf(engine, 'invitation', secret)
  const user = token?.user ? currentOf(engine.sql, 'User', token.user) : undefined
  if (!token || !user || user.deleted) return null
  return (JSON.parse(user.data) as JsonObject).status === (token.data.reset === true ? 'Active' : 'Invited')
    ? token
    : null
}

/** What a person signs in with from now on. */
export type NewCredential = Pick<Credential, 'id' | 'kind' | 'data'>

/**
 * Takes an invitation: its person gets this credential, and no other, and is active. One who sets a new password keeps
 * passkeys; all sessions end.
 */
export function acceptInvitation(write: Write, secret: string, credential: NewCredential): string {
  const { engine, sql } = write
  const token = invitationOf(engine, secret)
  if (!token) throw invalidInvitation()
  const user = token.user!
  refuseTaken(write, user, credential.id)
  const isReset = token.data.reset === true
  dropToken(sql, token.id)
  if (isReset) dropTokensOf(sql, user, 'session')
  else dropCredentialsOf(sql, user)
  saveCredential(sql, { ...credential, user, createdAt: engine.ports.clock.now() })
  if (!isReset) applyVerb(write, { type: 'User', verb: 'activate', id: user })
  engine.cache.forget('Identity')
  return user
}

/** A credential belongs to one person: another one cannot replace it. */
function refuseTaken({ sql }: Write, user: string, credential: string): void {
  const owner = credentialById(sql, credential)?.user
  if (owner === undefined || owner === user) return
  throw new Problem('conflict', 'This passkey is already in use. Use another one.', { field: 'credential' })
}

export function invalidInvitation(): Problem {
  return new Problem('unauthorized', 'This invitation is no longer valid. Ask for a new one.')
}
