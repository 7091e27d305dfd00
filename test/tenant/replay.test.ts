import { Problem } from '@tildebase/nouns'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { sealedEvent } from '../../packages/tenant/src/services/portable/chain.ts'
import { chain, digestOf } from '../../packages/tenant/src/store/log/log.ts'
import { hexOf } from '../../packages/tenant/src/store/non-log-tables.ts'
import { applyVerb } from '../../packages/tenant/src/write/verb.ts'
import { verifies } from '../verifies.ts'
import { openAcme, type TestTenant } from './fixture.ts'

/** What a log says that the state is: the last state of every entity that was not deleted since. */
function replay(tenant: TestTenant): Map<string, unknown> {
  const state = new Map<string, unknown>()
  for (const [entity, type, verb, version, data] of tenant.sql.rows(
    'SELECT entity, type, verb, version, data FROM events ORDER BY seq',
  )) {
    if (type === 'Event') continue
    if (verb === 'delete') state.delete(entity)
    else state.set(entity, { version, data: JSON.parse(data) })
  }
  return state
}

function present(tenant: TestTenant): Map<string, unknown> {
  const rows = tenant.sql.rows('SELECT id, version, data FROM states WHERE gone = 0')
  return new Map(rows.map(([id, version, data]) => [id, { version, data: JSON.parse(data) }]))
}

const verb = fc.constantFrom('create', 'update', 'delete', 'restore', 'qualify', 'rollback', 'enrich')
const step = fc.record({
  verb,
  which: fc.nat(5),
  data: fc.record(
    { name: fc.string(), email: fc.constantFrom('a@b', 'c@d', null), notes: fc.jsonValue() },
    { requiredKeys: [] },
  ),
  back: fc.nat(20),
  fails: fc.boolean(),
})

test('the state is equal to the replay of the log, whatever happened', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { tenant, clock } = openAcme()
      const ids: string[] = []
      for (const { verb, which, data, back, fails } of steps) {
        clock.at += 1_000
        const asOf = new Date(clock.at - back * 1_000).toISOString()
        try {
          tenant.write(grantFor('t'), (write) => {
            const { entity } = applyVerb(write, {
              type: 'Contact',
              verb,
              id: ids[which],
              data: verb === 'rollback' ? { asOf } : verb === 'create' ? { name: 'n', ...data } : data,
            })
            if (fails) throw new Problem('test', 'undone')
            if (verb === 'create') ids.push(entity.id)
          })
        } catch (reason) {
          if (!(reason instanceof Problem)) throw reason
        }
      }

      expect(present(tenant)).toEqual(replay(tenant))
      // Filters look for texts in the stored JSON: it has one spelling.
      for (const [data] of tenant.sql.rows('SELECT data FROM states UNION ALL SELECT data FROM events'))
        if (data !== null) expect(data).toBe(JSON.stringify(JSON.parse(data)))
      expect(tenant.facade.admin.verify()).toMatchObject({ ok: true, faults: [], events: tenant.head.seq })
    }),
    { numRuns: Number(process.env.TILDE_RUNS ?? 300) },
  )
})

verifies('log.immutable', 'a record of the log can neither be changed nor removed, and none can be left out', () => {
  const { tenant } = openAcme()
  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' })

  expect(() => tenant.sql.run(`UPDATE log SET data = '{"name":"Eve"}'`)).toThrow(/append-only/)
  expect(() =>
    tenant.sql.run(`UPDATE log SET actor = 7, data = NULL, previous = NULL, salt = NULL, digest = zeroblob(32)`),
  ).toThrow(/append-only/)
  expect(() => tenant.sql.run('DELETE FROM log')).toThrow(/append-only/)
  expect(() => tenant.sql.run('UPDATE log SET seq = 7')).toThrow(/append-only/)
})

test('verify names the first event that was tampered with', () => {
  const { tenant } = openAcme()
  for (const name of ['Ada', 'Bob', 'Eve']) tenant.act({ type: 'Contact', verb: 'create', data: { name }, actor: 't' })
  tenant.sql.run('DROP TRIGGER log_unchanged')
  tenant.sql.run(`UPDATE log SET data = replace(data, 'Bob', 'Rob') WHERE seq = 2`)

  expect(tenant.facade.admin.verify()).toMatchObject({ ok: false, firstBad: 2 })
})

test('the log goes forward in time, though the clock goes back', () => {
  const { tenant, clock } = openAcme()
  const times = [0, -60_000, 5].map((ms) => {
    clock.at += ms
    return tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 't' }).entity.createdAt
  })

  expect(times).toEqual(times.toSorted())
  expect(tenant.facade.admin.verify().faults).toEqual([])
})

test.each([
  ['{"name":"Ada"}', true],
  ['{"name":"\\u0041da"}', false],
  ['{"name": "Ada"}', false],
  ['{"name"', false],
])('a portable event with the data %s fits the log: %s', (data, fits) => {
  const head = { seq: 0, at: 0, happenedAt: 0, hash: new Uint8Array(32) }
  const names = { id: 'event_1', type: 'Contact', entity: 'contact_1', verb: 'create', event: 'created', actor: 'a' }
  const row = { seq: 1, at: 1, ...names, version: 1, createdAt: 1, createdBy: 'a', correlation: null }
  const values = { data, previous: null, args: null }
  const salt = new Uint8Array(16)
  const digest = digestOf(systemSeal, salt, values)
  const hash = chain(systemSeal, head.hash, 1, { ...row, ...values, onBehalfOf: null } as never, digest)
  const line = { ...row, ...values, salt: hexOf(salt), digest: hexOf(digest), hash: hexOf(hash) }

  const read = () => sealedEvent(systemSeal, head, line)

  if (fits) expect(read().data).toBe(data)
  else expect(read).toThrow('The data of event 1 is not written as JSON.stringify writes it.')
})

test('a long log is replayed in many commits, with a pause after each', async () => {
  const events = 1_600
  const { tenant } = openAcme()
  for (let i = 0; i < events; i++) tenant.act({ type: 'Contact', verb: 'create', data: { name: `c${i}` }, actor: 't' })
  const text = [...tenant.facade.admin.log({ after: 0, beside: 'all' })].join('')
  const { tenant: copy } = openAcme()
  const seqs: number[] = []

  await copy.facade.admin.replay(bytesOf(text), async () => void seqs.push(copy.facade.admin.head.seq))

  expect(hexOf(copy.facade.admin.head.hash)).toBe(hexOf(tenant.facade.admin.head.hash))
  const steps = [0, ...seqs, events].map((seq, i, all) => seq - (all[i - 1] ?? 0))
  expect(Math.max(...steps)).toBeLessThanOrEqual(500)
})

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
