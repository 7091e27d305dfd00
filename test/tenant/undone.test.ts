import { isoOf } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { GroupCommit } from '../../packages/tenant/src/write/group-commit.ts'
import { applyVerb } from '../../packages/tenant/src/write/verb.ts'
import type { Write } from '../../packages/tenant/src/write/write.ts'
import { openAcme, type TestTenant } from './fixture.ts'

const grant = grantFor('t')
const contact = (name: string) => ({ type: 'Contact', verb: 'create', data: { name } })
const add = (tenant: TestTenant, name: string) => tenant.write(grant, (write) => applyVerb(write, contact(name)))
const dryRun = <T>(tenant: TestTenant, work: (write: Write) => T) =>
  tenant.write(grant, (write) => write.transaction.dryRun(() => work(write)))

test('what was counted within a work that is undone is counted again', () => {
  const { tenant } = openAcme()
  const count = () => tenant.session('t').Contact!.count!({})

  const { result } = dryRun(tenant, (write) => {
    applyVerb(write, contact('Ada'))
    return count()
  })

  expect([result, count()]).toEqual([1, 0])
})

test('what a time meant within a work that is undone is looked up again', () => {
  const { tenant, clock } = openAcme()
  const between = isoOf(clock.at + 1)
  const then = () => tenant.session('t').Contact!.find!({}, { asOf: between }).length
  const work = (write: Write) => {
    applyVerb(write, contact('Ada'))
    return then()
  }

  const { result } = dryRun(tenant, work)
  clock.at += 2
  add(tenant, 'Cleo')
  clock.at += 1
  add(tenant, 'Dan')

  expect([result, then()]).toEqual([1, 0])
})

test('a commit that the disk refuses fails for all its writers, and the next one succeeds', async () => {
  const { tenant } = openAcme()
  const { sql } = tenant
  const commits = new GroupCommit(tenant.engine, setImmediate)
  const { transaction } = sql
  sql.transaction = ((work: () => never) =>
    transaction.call(sql, () => {
      work()
      throw new Error('database or disk is full')
    })) as typeof transaction
  const write = (name: string) =>
    commits.run((transaction) => {
      const one = tenant.transactor.begin(transaction, grant, {})
      return applyVerb(one, contact(name)).entity.version
    })

  const refused = await Promise.allSettled(['Ada', 'Bob', 'Cleo'].map(write))
  sql.transaction = transaction

  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await write('Dan')).toBe(1)
  expect(tenant.head.seq).toBe(1)
})

test('what runs at another time leaves the tenant its own, whether it ends well or not', () => {
  const { tenant, clock } = openAcme()
  const at = (now: number, work: (write: Write) => unknown) =>
    tenant.write(grant, (write) => work(write.within({ clock: { now: () => now } })))

  const then = at(5, (write) => write.now())
  const failed = () =>
    at(7, () => {
      throw new Error('no')
    })

  expect(then).toBe(5)
  expect(failed).toThrow('no')
  expect(tenant.engine.ports.clock.now()).toBe(clock.at)
  expect(tenant.write(grant, (write) => write.now())).toBe(clock.at)
})
