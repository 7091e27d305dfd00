import { Problem } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Transaction } from '../../packages/tenant/src/engine/engine.ts'
import { grantFor, OPERATOR } from '../../packages/tenant/src/grant/grant.ts'
import { sync } from '../../packages/tenant/src/services/sync/sync.ts'
import { GroupCommit } from '../../packages/tenant/src/write/group-commit.ts'
import { applyVerb } from '../../packages/tenant/src/write/verb.ts'
import { openAcme } from './fixture.ts'

const step = fc.record({
  email: fc.constantFrom('a@example.org', 'b@example.org', 'c@example.org', null),
  /** Whether the write is refused after all, once it has been made. */
  fails: fc.boolean(),
})
const job = fc.record({ steps: fc.array(step, { maxLength: 3 }), fails: fc.boolean() })

test('writes that share a commit come out as if each had had its own, whichever of them fail', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(job, { maxLength: 8 }), async (jobs) => {
      const { tenant } = openAcme()
      const commits = new GroupCommit(tenant.engine, setImmediate)
      const told: number[] = []
      tenant.engine.listen((events) => told.push(...events.map(({ seq }) => seq)))
      const taken = new Set<string>()
      const expected = jobs.map(({ steps, fails }) => {
        const before = [...taken]
        const kept = steps.flatMap(({ email, fails }, i) => {
          if ((email !== null && taken.has(email)) || fails) return []
          if (email !== null) taken.add(email)
          return [i]
        })
        if (!fails) return kept
        taken.clear()
        for (const email of before) taken.add(email)
        return null
      })

      const work = (transaction: Transaction, { steps, fails }: (typeof jobs)[number]) => {
        const write = tenant.transactor.begin(transaction, grantFor('t'), {})
        const kept = steps.flatMap(({ email, fails }, i) => {
          try {
            write.attempt(() => {
              applyVerb(write, { type: 'Contact', verb: 'create', data: { name: 'Ada', email } })
              if (fails) throw new Problem('test', 'no')
            })
            return [i]
          } catch (reason) {
            if (reason instanceof Problem) return []
            throw reason
          }
        })
        if (fails) throw new Problem('test', 'no')
        return kept
      }
      const given = await Promise.all(
        jobs.map((one) => commits.run((transaction) => work(transaction, one)).catch(() => null)),
      )

      expect(given).toEqual(expected)
      const count = expected.flatMap((kept) => kept ?? []).length
      expect(tenant.head.seq).toBe(count)
      expect(told).toEqual(Array.from({ length: count }, (_, i) => i + 1))
      expect(tenant.facade.admin.verify().faults).toEqual([])
    }),
  )
})

test('what a write changed outside the database is taken back when it is undone, and once when it is run again', async () => {
  const { tenant } = openAcme()
  const commits = new GroupCommit(tenant.engine, setImmediate)
  const list: string[] = []
  const add = (name: string, fails: boolean) => (transaction: Transaction) => {
    const write = tenant.transactor.begin(transaction, grantFor('t'), {})
    write.onRollback(() => void list.pop())
    list.push(name)
    applyVerb(write, { type: 'Contact', verb: 'create', data: { name } })
    if (fails) throw new Problem('test', 'no')
  }

  const jobs = [add('Ada', false), add('Bob', true), add('Cleo', false)].map((work) => commits.run(work))
  await Promise.allSettled(jobs)

  expect(list).toEqual(['Ada', 'Cleo'])
})

test('an event that is not sealed for the place where it is in the log is not kept, nor is its commit', () => {
  const { tenant } = openAcme()
  const create = () => tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })
  create()
  const { head } = tenant
  tenant.engine.head = { ...head, seq: head.seq + 1 }

  expect(create).toThrow('does not end with event 3')
  tenant.engine.head = head
  expect(create().event?.seq).toBe(2)
  expect(tenant.facade.admin.verify()).toMatchObject({ faults: [] })
})

test('the first write of a tenant is one commit', () => {
  const { tenant } = openAcme()
  const { sql } = tenant
  const declared = () => sql.rows(`SELECT value FROM meta WHERE key = 'timers.declared'`)
  const seen: unknown[] = []
  tenant.transactor.extensions.listeners.push(() => void seen.push(declared()))

  expect(declared()).toEqual([])
  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })

  // What is noted with the first event is there in its transaction.
  expect(seen).toEqual([[[expect.any(String)]]])
  expect(declared()).toEqual(seen[0])
})

test.each([Number.NaN, -1, Date.parse('+010000-01-01T00:00:00Z'), 1e18])(
  'nothing is written while the clock shows %d, and all goes on when it is right again',
  (wrong) => {
    const { tenant, clock } = openAcme()
    const right = clock.at
    const create = () => tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name: 'Ada' } })
    create()

    clock.at = wrong
    expect(create).toThrow(expect.objectContaining({ code: 'unavailable', message: expect.stringContaining('clock') }))
    expect(() => tenant.write(OPERATOR, (write) => sync(write, { changes: [] }))).toThrow('clock')
    clock.at = right + 1

    expect(create().entity.updatedAt).toBe(right + 1)
  },
)
