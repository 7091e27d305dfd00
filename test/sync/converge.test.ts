import fc from 'fast-check'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { type Fate, openParty } from './party.ts'

const RUNS = Number(process.env.TILDE_SYNC_RUNS ?? 200)
const REPLICAS = 3

const replica = fc.nat({ max: REPLICAS - 1 })
const which = fc.nat({ max: 4 })
const fields = fc.record(
  {
    name: fc.constantFrom('Ada', 'Grace', 'Edsger'),
    phone: fc.constantFrom('1', '2', null),
    leadScore: fc.constantFrom(1, 2, null, 'not a number'),
    email: fc.constantFrom('a@x.y', 'b@x.y', null),
    extra: fc.constantFrom({ a: [1] }, 'text', null),
  },
  { requiredKeys: [] },
)
const fate = fc.constantFrom<Fate>('arrives', 'arrives', 'arrives', 'requestLost', 'answerLost')

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), replica, fields }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('update' as const), replica, which, fields }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), replica, which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('meet' as const), replica, fate }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replay' as const), index: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      verb: fc.constantFrom('create', 'update', 'update', 'delete', 'restore'),
      which,
      fields,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 5 }) }) },
)

/** An id that several replicas may make at once. */
const idOf = (n: number) => `contact_shared${n}`

verifies(
  ['sync.converges', 'sync.repeat', 'log.syncedAt', 'sync.local'],
  'replicas that have exchanged all changes hold the same entities, whatever the network and the clocks did',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.tuple(...Array.from({ length: REPLICAS }, () => fc.constantFrom(0, -3_600_000, 7, 3_600_000))),
        fc.constantFrom(1, 3, 1_000),
        async (steps, skews, pageSize) => {
          const party = openParty(skews, pageSize)
          for (const [n, one] of steps.entries()) {
            if (one.do === 'meet') await party.meet(one.replica, one.fate)
            else if (one.do === 'replay') party.replay(one.index)
            else if (one.do === 'wait') party.clock.at += one.ms
            else if (one.do === 'write') {
              const data = one.verb === 'create' ? { name: 'By REST', ...one.fields } : one.fields
              party.write(one.verb, one.verb === 'create' ? undefined : idOf(one.which), data as never)
            } else if (one.do === 'create') {
              const store = party.stores[one.replica]!
              const id = idOf(n % 5)
              if (!store.get(id)) store.create('Contact', { name: 'New', ...one.fields } as never, id)
            } else {
              const store = party.stores[one.replica]!
              const entity = store.get(idOf(one.which))
              if (entity && one.do === 'update') store.update(entity.id, one.fields as never)
              if (entity && one.do === 'delete') store.delete(entity.id)
            }
            const { at, seq } = party.given
            const [late] = party.tenant.sql.rows('SELECT seq FROM events WHERE seq > ? AND at <= ?', seq, at)
            expect(late, 'no event is written at or before a syncedAt that was given out').toBeUndefined()
          }
          for (let round = 0; round < 2; round++) {
            for (let i = 0; i < REPLICAS; i++) await party.meet(i, 'arrives')
          }

          const truth = party.entities()
          for (let i = 0; i < REPLICAS; i++) expect(party.local(i)).toEqual(truth)
          const { seq } = party.tenant.head
          for (const [i, request] of party.sent.entries()) if (!party.refused.has(request)) party.replay(i)
          expect(party.entities()).toEqual(truth)
          expect(party.tenant.head.seq, 'a repeated request writes nothing').toBe(seq)
        },
      ),
      { numRuns: RUNS, ...(process.env.TILDE_SYNC_SEED && { seed: Number(process.env.TILDE_SYNC_SEED) }) },
    )
  },
)
