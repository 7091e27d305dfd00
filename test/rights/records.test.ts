import { catalogue, type Json, noun, nounsOf } from '@tildebase/nouns'
import type { Grant } from '@tildebase/tenant'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toEnd } from '../../packages/tenant/src/engine/turns.ts'
import { ALL } from '../../packages/tenant/src/grant/scopes.ts'
import { findRows } from '../../packages/tenant/src/query/answer/find.ts'
import { readContextOf } from '../../packages/tenant/src/query/read-context.ts'
import { changesAfter, changesInSteps } from '../../packages/tenant/src/services/events/changes.ts'
import { readLog } from '../../packages/tenant/src/store/log/log.ts'
import { openAcme, type TestTenant } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const RUNS = Number(process.env.TILDE_RUNS ?? 60)

const Crew = noun(
  'Crew',
  { name: 'string', rank: 'number', tags: 'string[]', ship: '-> Ship.crew' },
  { domain: 'custom' },
)
const Ship = noun('Ship', { name: 'string', size: 'number', crew: '<- Crew.ship[]' }, { domain: 'custom' })
const nouns = nounsOf([Crew, Ship, catalogue.Event] as never)

const name = fc.constantFrom('a', 'b', 'c')
const size = fc.constantFrom(1, 2, 3)

/** Row filters that SQL can test, and some that only memory can. */
const crewFilter = fc.oneof(
  fc.record({ name }),
  fc.record({ rank: fc.record({ $gte: size }) }),
  fc.record({ tags: name }),
  fc.record({ name: fc.record({ $regex: fc.constantFrom('^a', 'b|c', '.') }) }),
  fc.record({ $or: fc.tuple(fc.record({ name }), fc.record({ rank: size })) }),
  fc.record({ 'ship.size': size }),
  fc.record({ rank: fc.record({ $exists: fc.boolean() }) }),
)
const shipFilter = fc.oneof(fc.record({ size }), fc.record({ name: fc.record({ $ne: name }) }))
const step = fc.oneof(
  fc.record({
    do: fc.constant('crew' as const),
    name,
    rank: fc.option(size, { nil: undefined }),
    tags: fc.array(name, { maxLength: 2 }),
    ship: fc.nat(3),
  }),
  fc.record({ do: fc.constant('ship' as const), name, size }),
  fc.record({ do: fc.constant('update' as const), at: fc.nat(9), name, rank: size }),
  fc.record({ do: fc.constant('delete' as const), at: fc.nat(9) }),
)

/** Writes a history and returns the ids of the sailors in it. */
function write(tenant: TestTenant, steps: readonly unknown[]): void {
  const crews: string[] = []
  const ships: string[] = []
  for (const one of steps as any[]) {
    const actor = 'test'
    if (one.do === 'ship')
      ships.push(
        tenant.act({ type: 'Ship', verb: 'create', data: { name: one.name, size: one.size }, actor }).entity.id,
      )
    if (one.do === 'crew') {
      const ship = ships[one.ship % Math.max(ships.length, 1)]
      const data = {
        name: one.name,
        tags: one.tags,
        ...(one.rank && { rank: one.rank }),
        ...(ship && { ship }),
      } as Json
      crews.push(tenant.act({ type: 'Crew', verb: 'create', data, actor }).entity.id)
    }
    const id = crews[one.at % Math.max(crews.length, 1)]
    if (id === undefined) continue
    try {
      if (one.do === 'update')
        tenant.act({ type: 'Crew', verb: 'update', id, data: { name: one.name, rank: one.rank }, actor })
      if (one.do === 'delete') tenant.act({ type: 'Crew', verb: 'delete', id, actor })
    } catch {
      // It is deleted already.
    }
  }
}

verifies(
  'rights.records',
  'a narrowed key sees exactly the records whose state matches its filter: in SQL, in the stream and one by one',
  () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 20 }),
        crewFilter,
        fc.option(shipFilter),
        (steps, crew, ship) => {
          const { tenant, close } = openAcme({ nouns })
          const { engine } = tenant
          write(tenant, steps as never)
          const grant: Grant = { actor: 'key', scopes: ALL, rows: { Crew: crew, ...(ship && { Ship: ship }) } }
          const reader = readContextOf(engine, grant)
          // The judge: the rows of each type that the present filter finds among states, one record at a time.
          const expected = readLog(engine.sql, 0, 1_000)
            .filter((record) => judge(tenant, grant, record))
            .map(({ seq }) => seq)

          const found = findRows(reader, { type: 'Event', limit: 1_000, sort: [], total: true })
          const streamed = changesAfter(engine, grant, null, 0, 1_000)

          expect(found.results.map(({ ordinal }) => ordinal).toReversed()).toEqual(expected)
          expect(found.total).toBe(expected.length)
          expect(streamed.rows.map(({ seq }) => seq)).toEqual(expected)
          tenant.equip({ turns: slowTurns() })
          expect(toEnd(changesInSteps(engine, grant, null, 0, 1_000))).toMatchObject({
            rows: streamed.rows,
            hasMore: false,
          })
          expect(live(tenant, grant).seqs).toEqual(expected)
          close()
        },
      ),
      { numRuns: RUNS },
    )
  },
)

test('the stream of a narrowed key is read a few events at a time, however few it sees', () => {
  const { tenant, close } = openAcme({ nouns })
  for (let i = 0; i < 50; i++) tenant.act({ type: 'Crew', verb: 'create', data: { name: 'a' }, actor: 'test' })
  tenant.equip({ turns: slowTurns() })
  const grant: Grant = { actor: 'key', scopes: ALL, rows: { Crew: { name: { $regex: '^b' } } } }

  const { seqs, reads } = live(tenant, grant)
  const steps = changesInSteps(tenant.engine, grant, null, 0, 100)
  const isFirst = steps.next()

  expect([seqs, isFirst.done]).toEqual([[], false])
  expect(reads).toBeGreaterThan(20)
  expect(toEnd(steps)).toMatchObject({ rows: [], hasMore: false })
  close()
})

/** Turns that are over after each look at the time. */
function slowTurns() {
  let now = 0
  return {
    now: () => {
      now += 100
      return now
    },
    isAwaited: () => true,
    run: async <T>(steps: Iterator<void, T>) => toEnd(steps),
  }
}

/** What a live stream from the beginning sends, and in how many reads. */
function live(tenant: TestTenant, grant: Grant): { seqs: number[]; reads: number } {
  const source = tenant.facade.follow(grant).changes(null, 0, 'acme')
  let text = ''
  let reads = 0
  do {
    const piece = source.read(grant)
    text += typeof piece === 'string' ? piece : new TextDecoder().decode(piece as Uint8Array)
    reads++
  } while (source.isBehind!())
  return { seqs: [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq)), reads }
}

/** Puts the state of a record into its own tenant, next to the ships as they are now, and asks for it there. */
function judge(tenant: TestTenant, grant: Grant, record: any): boolean {
  if (!Object.hasOwn(grant.rows, record.type)) return true
  const { tenant: other, close } = openAcme({ nouns })
  const ships = tenant.sql.rows(`SELECT id, data FROM states WHERE type = 'Ship' AND gone = 0`)
  const copy = (type: string, id: string, data: string) =>
    other.act({ type, verb: 'create', data: { ...JSON.parse(data), $id: id }, keepId: true, actor: 'copy' })
  for (const [id, data] of ships) if (id !== record.entity) copy('Ship', id, data)
  copy(record.type, record.entity, record.data)
  const only: Grant = { ...grant, rows: { [record.type]: grant.rows[record.type] } }
  const { results } = findRows(readContextOf(other.engine, only), { type: record.type, limit: 100, total: false })
  close()
  return results.some(({ id }) => id === record.entity)
}

test('a narrowed key leaves only rows that it sees, and touches only rows that it sees', () => {
  fc.assert(
    fc.property(name, size, name, size, crewFilter, (nameBefore, rankBefore, nameAfter, rankAfter, filter) => {
      const { tenant, close } = openAcme({ nouns })
      const { id } = tenant.act({
        type: 'Crew',
        verb: 'create',
        data: { name: nameBefore, rank: rankBefore, tags: [] },
        actor: 'x',
      }).entity
      const grant: Grant = { actor: 'key', scopes: ALL, rows: { Crew: filter } }
      const sees = () =>
        findRows(readContextOf(tenant.engine, grant), { type: 'Crew', limit: 10, total: false }).results.length === 1
      const before = sees()
      let problem: string | null = null
      try {
        tenant.run(grant, { type: 'Crew', verb: 'update', id, data: { name: nameAfter, rank: rankAfter } })
      } catch (reason) {
        problem = (reason as { code: string }).code
      }
      const state = JSON.parse(tenant.sql.rows(`SELECT data FROM states WHERE id = ?`, id)[0]![0])

      if (problem === null) expect([before, sees()]).toEqual([true, true])
      else expect(state).toMatchObject({ name: nameBefore, rank: rankBefore })
      if (!before) expect(problem).toBe('not_found')
      close()
    }),
    { numRuns: RUNS },
  )
})
