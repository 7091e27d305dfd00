import { type Grant, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import type { Call } from '../../packages/server/src/doors/call.ts'
import { liveReply, seqOf, Waiter } from '../../packages/server/src/doors/rest/live.ts'
import { TURN } from '../../packages/tenant/src/engine/turns.ts'
import { Tail } from '../../packages/tenant/src/services/events/tail.ts'
import { openAcme } from '../tenant/fixture.ts'

const LONG = 3_600_000

function open() {
  const { tenant, clock } = openAcme()
  return {
    tenant,
    clock,
    write: () => tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' }),
  }
}

test('all waiters are notified of a new event, however many they are', async () => {
  const { tenant, write } = open()
  const waiters = Array.from({ length: 200 }, () => new Waiter(tenant.facade.follow(OPERATOR)))
  const waits = waiters.map((waiter) => waiter.wait(LONG))

  write()

  expect(await Promise.all(waits)).toEqual(waiters.map(() => true))
  for (const waiter of waiters) waiter.close()
})

test('events without a waiter are reported once, and a short wait after a long one is short', async () => {
  const { tenant, write } = open()
  const waiter = new Waiter(tenant.facade.follow(OPERATOR))
  const long = waiter.wait(LONG)
  write()
  const first = await long
  write()
  await new Promise((done) => setImmediate(() => setImmediate(done)))

  expect([first, await waiter.wait(LONG), await waiter.wait(1)]).toEqual([true, true, false])
  waiter.close()
})

test('a reader that leaves is not followed for any more', async () => {
  const { tenant, write } = open()
  const call = { tenant: tenant.facade, grant: OPERATOR, requestId: 'r' } as Call
  const live = liveReply(call, { read: () => '' }).stream![Symbol.asyncIterator]()
  const begun = await live.next()
  const pending = live.next()

  await live.return!()
  write()

  expect([begun.done, (await pending).done]).toEqual([false, true])
  expect(tenant.services.feed.recent(0)).toBe(null)
})

test('a long stretch without anything to tell is gone through in turns, up to what there is', () => {
  const { tenant, clock, write } = open()
  for (let i = 0; i < 25; i++) write()
  const tail = new Tail(tenant.engine, tenant.services.feed, 'last', 0, (after) => {
    clock.at += 1
    return { text: after === 24 ? 'last' : '', position: after + 1 }
  })
  const pauses = Array.from({ length: Math.floor(24 / TURN.bulk) }, () => ':\n\n')
  const told = Array.from({ length: pauses.length + 2 }, () => textOf(tail.read(OPERATOR)))

  expect(told).toEqual([...pauses, 'last', ''])
})

test('a reader whose key has changed receives what the key now sees', () => {
  const { tenant, write } = open()
  const seen = (after: number, grant: Grant) => ({ text: JSON.stringify(grant.scopes), position: after + 1 })
  const [one, other] = [
    new Tail(tenant.engine, tenant.services.feed, 'scopes', 0, seen),
    new Tail(tenant.engine, tenant.services.feed, 'scopes', 0, seen),
  ]
  const stop = tenant.services.feed.follow(() => {})
  const less: Grant = { ...OPERATOR, scopes: [{ action: 'read', area: 'crm' }] }
  write()
  for (const tail of [one, other]) tail.read(OPERATOR)
  write()

  expect([one.read(OPERATOR), other.read(less)].map(textOf)).toEqual(
    [OPERATOR, less].map(({ scopes }) => JSON.stringify(scopes)),
  )
  stop()
})

test('an id of fifteen digits is one; a longer one cannot be', () => {
  expect(seqOf('9'.repeat(15), 'cursor')).toBe(999_999_999_999_999)
  for (const text of ['9'.repeat(16), '', '-1', '1e3'])
    expect(() => seqOf(text, 'cursor')).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
})

function textOf(told: string | Uint8Array): string {
  return typeof told === 'string' ? told : new TextDecoder().decode(told)
}
