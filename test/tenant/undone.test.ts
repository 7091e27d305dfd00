import { isoOf } from '@tildebase/nouns'
import { GroupCommit } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { openAcme } from './fixture.ts'

const contact = (name: string) => ({ type: 'Contact', verb: 'create', data: { name }, actor: 't' })

test('what was counted within a work that is undone is counted anew', () => {
  const { tenant } = openAcme()
  const count = () => tenant.session('t').Contact!.count!({})

  const { result } = tenant.dryRun(() => {
    tenant.act(contact('Ada'))
    return count()
  })

  expect([result, count()]).toEqual([1, 0])
})

test('what a time meant within a work that is undone is looked up anew', () => {
  const { tenant, clock } = openAcme()
  const between = isoOf(clock.at + 1)
  const then = () => tenant.session('t').Contact!.find!({}, { asOf: between }).length
  const write = () => {
    tenant.act(contact('Ada'))
    clock.at += 2
    tenant.act(contact('Bob'))
    return then()
  }

  const { result } = tenant.dryRun(write)
  tenant.act(contact('Cleo'))
  clock.at += 1
  tenant.act(contact('Dan'))

  expect([result, then()]).toEqual([1, 0])
})

test('a commit that the disk refuses is refused to everybody who has a part in it, and the next one is taken', async () => {
  const { tenant } = openAcme()
  const { sql } = tenant
  const commits = new GroupCommit(tenant, setImmediate)
  const { transaction } = sql
  sql.transaction = ((work: () => never) =>
    transaction.call(sql, () => {
      work()
      throw new Error('database or disk is full')
    })) as typeof transaction
  const write = (name: string) => commits.run(() => tenant.act(contact(name)).entity.version)

  const refused = await Promise.allSettled(['Ada', 'Bob', 'Cleo'].map(write))
  sql.transaction = transaction

  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await write('Dan')).toBe(1)
  expect(tenant.head.seq).toBe(1)
})

test('what runs at another time leaves the tenant its own, whether it ends well or not', () => {
  const { tenant, clock } = openAcme()
  const at = (now: number, work: () => unknown) => tenant.with({ clock: { now: () => now } }, work)

  const then = at(5, () => tenant.ports.clock.now())
  const failed = () =>
    at(7, () => {
      throw new Error('no')
    })

  expect(then).toBe(5)
  expect(failed).toThrow('no')
  expect(tenant.ports.clock.now()).toBe(clock.at)
})
