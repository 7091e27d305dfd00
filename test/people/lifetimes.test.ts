import { OPERATOR } from '@tildebase/tenant'
import { expect } from 'vitest'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A tenant whose clock moves by hand, with an active person. */
function open() {
  const { tenant, clock } = openAcme()
  const data = { name: 'Ada', email: 'ada@example.org', role: 'Member' }
  const { entity } = tenant.act({ type: 'User', verb: 'create', data, actor: 'operator' })
  return { identity: tenant.facade.identity, wake: () => tenant.facade.wake(), clock, user: entity.id }
}

verifies('people.session.time', 'a session ends after 12 hours without use', async () => {
  const { identity, wake, clock, user } = open()
  const { secret } = identity.startSession(user, {})

  clock.at += 11 * HOUR
  expect(identity.session(secret)?.actor).toBe(user)
  await wake()
  clock.at += 11 * HOUR
  expect(identity.session(secret)?.actor).toBe(user)
  clock.at += 12 * HOUR + 1
  expect(identity.session(secret)).toBeNull()
  expect(identity.sessions(user)).toEqual([])
})

verifies('people.session.time', 'a session that is used all the time ends after 30 days', async () => {
  const { identity, wake, clock, user } = open()
  const { secret } = identity.startSession(user, {})
  const began = clock.at
  let last = began
  while (identity.session(secret) !== null) {
    last = clock.at
    clock.at += HOUR
    await wake()
    if (clock.at > began + 40 * DAY) break
  }

  expect(Math.round((last - began) / DAY)).toBe(30)
})

verifies('people.invite.time', 'an invitation ends after 7 days', () => {
  const { tenant, clock } = openAcme()
  const data = { name: 'Ada', email: 'ada@example.org', role: 'Member' }
  const { entity } = tenant.act({ type: 'User', verb: 'create', data, actor: 'operator' })
  const invited = tenant.run(OPERATOR, { type: 'User', verb: 'invite', id: entity.id })
  const token = String(invited.entity.extra?.invitation).split('#')[1]!
  const { identity } = tenant.facade

  clock.at += 7 * DAY - 1
  expect(identity.find('invitation', token)?.user).toBe(entity.id)
  clock.at += 1
  expect(identity.find('invitation', token)).toBeNull()
})

verifies('people.bounds', 'a person has 100 sessions and a consent 200 tokens at most: the oldest give way', () => {
  const { tenant, clock } = openAcme()
  const { identity } = tenant.facade
  const secrets = Array.from({ length: 101 }, () => {
    clock.at++
    return identity.startSession('user_0', {}).secret
  })
  const tokens = Array.from({ length: 210 }, () => {
    clock.at++
    return identity.issue('refresh', { consent: 'consent_0', lastsMs: DAY })
  })

  expect(identity.sessions('user_0')).toHaveLength(100)
  expect(identity.find('session', secrets[0]!)).toBeNull()
  expect(identity.find('session', secrets[100]!)).not.toBeNull()
  expect(tokens.filter((token) => identity.find('refresh', token) !== null)).toEqual(tokens.slice(10))
})
