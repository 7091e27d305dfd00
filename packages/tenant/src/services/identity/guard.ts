import { invalid, type JsonObject, Problem } from '@tildebase/nouns'
import { demandNoAgent, may } from '../../grant/grant.ts'
import type { Sql } from '../../ports.ts'
import { consentsOf, dropConsent } from '../../store/people/consents.ts'
import { dropTokensOf, dropTokensOfConsent } from '../../store/people/tokens.ts'
import type { TransactionListener, Write } from '../../write/write.ts'
import { demandCoversRole } from './roles.ts'

/** What decides who a person is, and what they may do. */
const DECISIVE = ['email', 'role', 'status']

/**
 * Watches over the people in the transaction of every event of a User, whichever way it came: no caller hands out rights that it
 * does not hold, and a person who is not active any more is signed out everywhere at once.
 */
export const guardPeople: TransactionListener = (write, event, entity) => {
  const after = JSON.parse(entity.data) as JsonObject
  const previous = JSON.parse(event.previous ?? '{}') as JsonObject
  const isWhole = event.verb === 'create' || event.verb === 'delete' || event.verb === 'restore'
  const fields = Object.keys(isWhole ? after : previous)
  // Every reader of people and of the log could read it.
  if (fields.includes('password') && (after.password ?? null) !== null)
    throw invalid('User', [{ field: 'password', message: 'is set by the person: invite them' }])
  const changed = fields.filter((field) => DECISIVE.includes(field))
  if (changed.length > 0) {
    demandPeople(write, after.role)
    if ('role' in previous) demandCoversRole(write, previous.role)
    // The owner of the address gets links to sign in, and decides what agents propose.
    if (changed.includes('email') && event.verb !== 'delete') demandNoAgent(write.grant, 'set the address of a person')
    if ('role' in previous) demandNoAgent(write.grant, 'change the role of a person')
  }
  if (event.verb === 'delete' || after.status !== 'Active') endAccess(write.sql, entity.id)
  // A link to set a password belongs to the address that it was sent to.
  if ('email' in previous) dropTokensOf(write.sql, entity.id, 'invitation')
  write.engine.cache.forget('Identity')
}

/** Refuses a caller that may not decide about people with this role. */
export function demandPeople(write: Write, role: unknown): void {
  const { engine, grant } = write
  // A new address could widen a row filter with `$user.email`, or sign in as a colleague; a status could end their access.
  if (!may(grant, 'admin', engine.noun('User'))) {
    const message =
      'Only administrators can change the e-mail address, role and status of a person. This needs admin:identity.'
    throw new Problem('forbidden', message, { type: 'User', missing: 'admin:identity' })
  }
  demandCoversRole(write, role)
}

/** Ends all sessions, invitations and tokens of a person. */
function endAccess(sql: Sql, user: string): void {
  for (const kind of ['session', 'invitation', 'challenge', 'code', 'device'] as const) dropTokensOf(sql, user, kind)
  for (const { id } of consentsOf(sql, user)) endConsent(sql, id)
}

/** Ends what a person allowed a client, with all its tokens. */
export function endConsent(sql: Sql, id: string): void {
  dropTokensOfConsent(sql, id)
  dropConsent(sql, id)
}
