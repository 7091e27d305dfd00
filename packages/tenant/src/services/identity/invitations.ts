import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demandNoAgent } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import { type Credential, credentialById, dropCredentialsOf, saveCredential } from '../../store/people/credentials.ts'
import { dropToken, dropTokensOf, type Token } from '../../store/people/tokens.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { withMade } from '../keys.ts'
import { demandPeople } from './guard.ts'
import { issueToken, tokenOf } from './secrets.ts'

const WEEK = 7 * 86_400_000

/** The verbs of User that mean more than its fields. */
export const peopleVerbs: { readonly [name: string]: SpecialVerb } = {
  'User.invite': invite,
  'User.suspend': (write, request) => withMade(write, applyVerb(write, request), request.cascade),
}

/** Invites a person: the answer holds a URL that is valid once, for a week. An earlier one ends, as do all sessions. */
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
  return { ...result, entity: { ...result.entity, extra: { invitation } } }
}

/** The invitation of a secret, if its person is still invited. */
export function invitationOf(engine: Engine, secret: string): Token | null {
  const token = tokenOf(engine, 'invitation', secret)
  const user = token?.user ? currentOf(engine.sql, 'User', token.user) : undefined
  if (!token || !user || user.deleted) return null
  return (JSON.parse(user.data) as JsonObject).status === 'Invited' ? token : null
}

/** What a person signs in with from now on. */
export type NewCredential = Pick<Credential, 'id' | 'kind' | 'data'>

/** Takes an invitation: its person gets this credential, and no other, and is active. */
export function acceptInvitation(write: Write, secret: string, credential: NewCredential): string {
  const { engine, sql } = write
  const token = invitationOf(engine, secret)
  if (!token) throw invalidInvitation()
  const user = token.user!
  refuseTaken(write, user, credential.id)
  dropToken(sql, token.id)
  dropCredentialsOf(sql, user)
  saveCredential(sql, { ...credential, user, createdAt: engine.ports.clock.now() })
  applyVerb(write, { type: 'User', verb: 'activate', id: user })
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
