import { catalogue, type Noun, nounsOf, Problem } from '@tildebase/nouns'
import { Hooks } from '@tildebase/tenant/hooks'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Grant, grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { changesetOf } from '../../packages/tenant/src/services/changesets/changeset.ts'
import { isDecision, sealDecision } from '../../packages/tenant/src/services/changesets/decision.ts'
import { forkChanges } from '../../packages/tenant/src/services/changesets/fork.ts'
import { createFromOperations } from '../../packages/tenant/src/services/changesets/given.ts'
import { propose } from '../../packages/tenant/src/services/changesets/propose.ts'
import { review } from '../../packages/tenant/src/services/changesets/review.ts'
import { writeOrigin } from '../../packages/tenant/src/store/log/origin.ts'
import { type Bench, openAcme, type TestTenant } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const RUNS = Number(process.env.TILDE_CHANGESET_RUNS ?? 60)

/** Two writers, who change entities of one small world. */
const WRITER: Grant = grantFor('writer')
const AUTHOR: Grant = grantFor('author')
const REVIEWER: Grant = grantFor('reviewer')

const ENTITIES = 3
const DAY = 86_400_000
const FIELDS = ['title', 'phone', 'city', 'notes'] as const

/** One thing that a writer does to one of the entities. */
type Step =
  | { readonly do: 'update'; readonly at: number; readonly field: string; readonly value: string | null }
  | { readonly do: 'qualify' | 'delete' | 'restore'; readonly at: number }
  | { readonly do: 'create'; readonly value: string }

const entity = fc.nat({ max: ENTITIES - 1 })
const update = (fields: readonly string[]) =>
  fc.record({
    do: fc.constant('update' as const),
    at: entity,
    field: fc.constantFrom(...fields),
    value: fc.option(fc.constantFrom('a', 'b', 'c')),
  })
const create = fc.record({ do: fc.constant('create' as const), value: fc.constantFrom('a', 'b') })
const verb = fc.record({ do: fc.constantFrom('qualify' as const, 'delete' as const, 'restore' as const), at: entity })

const anything: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: update(FIELDS) },
  { weight: 2, arbitrary: verb },
  create,
)
const anythings = fc.array(anything, { maxLength: 8 })

/** The tenants of one history: tens of thousands of them would fill the memory. */
const open: Bench[] = []

beforeAll(() => {
  fc.configureGlobal({
    afterEach: () => {
      for (const { close } of open.splice(0)) close()
    },
  })
})
afterAll(() => fc.resetConfigureGlobal())

function opened(...options: Parameters<typeof openAcme>): Bench {
  const bench = openAcme(...options)
  open.push(bench)
  return bench
}

/** A tenant with three contacts, whose hook writes who greets whom into another field. */
function world(): { tenant: TestTenant; ids: string[]; clock: { at: number } } {
  const hooks = new Hooks()
  hooks.add('Contact', 'updating', (_, __, args) => {
    if (args.title === 'c') throw new Error('No c here.')
    return args.phone === 'b' ? { notes: 'called' } : undefined
  })
  const { tenant, clock } = opened({ hooks, nouns: nounsOf(Object.values(catalogue) as Noun[]) })
  const ids = Array.from(
    { length: ENTITIES },
    (_, at) => tenant.run(WRITER, { type: 'Contact', verb: 'create', data: { name: `n${at}` } }).entity.id,
  )
  return { tenant, ids, clock }
}

/** Runs what can be run of some steps, each in its own commit. */
function run(tenant: TestTenant, grant: Grant, ids: readonly string[], steps: readonly Step[]): void {
  for (const step of steps) attempt(() => tenant.run(grant, operationOf(ids, step)))
}

function operationOf(ids: readonly string[], step: Step) {
  if (step.do === 'create') return { type: 'Contact', verb: 'create', data: { name: step.value } }
  const { do: verb, at } = step
  const data = step.do === 'update' ? { [step.field]: step.value } : {}
  return { type: 'Contact', verb, id: ids[at]!, data }
}

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch (reason) {
    if (reason instanceof Problem) return null
    throw reason
  }
}

/** Proposes steps, each on top of those before. Returns the changeset, or null when none of them could run. */
function proposeAll(tenant: TestTenant, ids: readonly string[], steps: readonly Step[]): string | null {
  let into: string | null = null
  for (const step of steps) {
    into =
      attempt(() =>
        tenant.write(AUTHOR, (write) =>
          propose(write, { into: into ?? 'A proposal' }, (trial) => tenant.runIn(trial, operationOf(ids, step))),
        ),
      )?.changeset ?? into
  }
  return into
}

const approve = (tenant: TestTenant, id: string, data: object = {}) =>
  tenant.run(REVIEWER, { type: 'Changeset', verb: 'approve', id, data })

/** The contacts as they are, without times, versions and actors. */
function state(tenant: TestTenant): unknown[] {
  return tenant.sql
    .rows(`SELECT id, gone, data FROM states WHERE type = 'Contact' ORDER BY id`)
    .map(([id, gone, data]) => {
      const { qualifiedAt: _, ...fields } = JSON.parse(data)
      return [id, gone, fields]
    })
}

/** The same without the ids of contacts that were created by chance of each tenant. */
function values(tenant: TestTenant, ids: readonly string[]): unknown[] {
  return state(tenant)
    .map(([id, gone, data]: any) => [ids.indexOf(id), gone, data])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/** The fields that others changed after the base, by contact. */
function changedSince(tenant: TestTenant, seq: number, until: number): Set<string> {
  const rows = tenant.sql.rows(
    `SELECT entity, verb, previous FROM events WHERE type = 'Contact' AND seq > ? AND seq <= ?`,
    seq,
    until,
  )
  return new Set(
    rows.flatMap(([id, verb, previous]) =>
      verb === 'delete' || verb === 'restore'
        ? [`${id} *`]
        : Object.keys(JSON.parse(previous ?? '{}')).map((field) => `${id} ${field}`),
    ),
  )
}

const options = { numRuns: RUNS }

verifies(
  'changeset.merge.sequence',
  'changes of different fields are merged into the state of running them in sequence',
  () => {
    const theirs = fc.array(update(['title', 'city']), { maxLength: 6 })
    const mine = fc.array(fc.oneof({ weight: 4, arbitrary: update(['phone', 'notes']) }, create), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(theirs, mine, (others, own) => {
        const merged = world()
        const sequence = world()
        const id = proposeAll(merged.tenant, merged.ids, own)
        run(merged.tenant, WRITER, merged.ids, others)
        run(sequence.tenant, WRITER, sequence.ids, others)
        run(sequence.tenant, REVIEWER, sequence.ids, own)
        if (id !== null) approve(merged.tenant, id)

        expect(values(merged.tenant, merged.ids)).toEqual(values(sequence.tenant, sequence.ids))
        expect(merged.tenant.facade.admin.verify().faults).toEqual([])
      }),
      options,
    )
  },
)

verifies(
  ['changeset.merge.silent', 'changeset.approve.whole'],
  'an approval is all or nothing, and overwrites no field that others changed without a conflict',
  () => {
    fc.assert(
      fc.property(anythings, anythings, anythings, (before, own, others) => {
        const { tenant, ids } = world()
        run(tenant, WRITER, ids, before)
        const base = tenant.head.seq
        const id = proposeAll(tenant, ids, own)
        if (id === null) return
        run(tenant, WRITER, ids, others)
        const until = tenant.head.seq
        const shown = tenant.write(REVIEWER, (write) => review(write, id))
        const was = state(tenant)

        const approved = attempt(() => approve(tenant, id))

        const theirs = changedSince(tenant, base, until)
        const mine = changedSince(tenant, until, tenant.head.seq)
        expect(approved === null).toBe(shown.conflicts.length > 0)
        if (approved === null) expect([tenant.head.seq, state(tenant)]).toEqual([until, was])
        else expect([...mine].filter((field) => overlaps(field, theirs))).toEqual([])
        expect(changesetOf(tenant.engine, REVIEWER, id).state).toBe(approved ? 'Approved' : 'Open')
      }),
      options,
    )
  },
)

/** A deletion or a restoration concerns every field. */
function overlaps(field: string, others: ReadonlySet<string>): boolean {
  const [id, name] = field.split(' ')
  return (
    others.has(field) || others.has(`${id} *`) || (name === '*' && [...others].some((one) => one.startsWith(`${id} `)))
  )
}

verifies(
  ['changeset.traces', 'changeset.stale'],
  'a rejected or stale changeset leaves its own events and nothing else',
  async () => {
    await fc.assert(
      fc.asyncProperty(anythings, fc.boolean(), async (own, isLate) => {
        const { tenant, ids, clock } = world()
        const [head, was] = [tenant.head.seq, state(tenant)]
        const id = proposeAll(tenant, ids, own)
        if (id === null) return
        attempt(() => approve(tenant, id, { operations: [99] }))
        const signature = sealDecision(tenant.engine, changesetOf(tenant.engine, REVIEWER, id))
        clock.at += isLate ? 30 * DAY : 30 * DAY - 1
        await tenant.wake()
        const then = changesetOf(tenant.engine, REVIEWER, id).state
        attempt(() => tenant.run(REVIEWER, { type: 'Changeset', verb: 'reject', id }))

        expect([then, changesetOf(tenant.engine, REVIEWER, id).state]).toEqual(
          isLate ? ['Stale', 'Stale'] : ['Open', 'Rejected'],
        )
        // The address of the page on which a person decides ends with the changeset.
        expect(isDecision(tenant.engine, id, signature)).toBe(!isLate)
        expect(attempt(() => approve(tenant, id))).toBeNull()
        expect(state(tenant)).toEqual(was)
        const types = tenant.sql.rows('SELECT DISTINCT type FROM events WHERE seq > ? ORDER BY type', head).flat()
        expect(types).toEqual(['Changeset', 'ChangesetPart'])
      }),
      options,
    )
  },
)

verifies('changeset.approve.rights', 'an approver cannot approve what the grant does not cover', () => {
  const narrowed: Grant = { ...grantFor('narrow'), rows: { Contact: { city: 'a' } } }
  const area: Grant = { actor: 'area', scopes: [{ action: 'write', area: 'billing' }], rows: {} }
  const reader: Grant = { actor: 'reader', scopes: [{ action: 'read', area: 'all' }], rows: {} }
  fc.assert(
    fc.property(anythings, anythings, (before, own) => {
      const { tenant, ids } = world()
      run(tenant, WRITER, ids, before)
      const id = proposeAll(tenant, ids, own)
      if (id === null) return
      const [head, was] = [tenant.head.seq, state(tenant)]
      for (const grant of [narrowed, area, reader, AUTHOR]) {
        expect(attempt(() => tenant.run(grant, { type: 'Changeset', verb: 'approve', id }))).toBeNull()
      }

      expect([tenant.head.seq, state(tenant)]).toEqual([head, was])
    }),
    options,
  )
})

describe('a fork', () => {
  verifies(
    'changeset.fork.merge',
    'merging two forks is running both in sequence, or a conflict that is reported',
    () => {
      fc.assert(
        fc.property(anythings, anythings, (first, second) => {
          const origin = world()
          const base = origin.tenant.head.seq
          const [a, b] = [first, second].map((steps) => forked(steps))

          const merges = [a!, b!].map(({ operations, head }) => {
            if (operations.length === 0) return true
            const { result } = origin.tenant.write(AUTHOR, (write) =>
              createFromOperations(write, { title: 'A fork', base, operations }),
            )
            const seq = origin.tenant.head.seq
            const done = attempt(() => approve(origin.tenant, result.entity.id)) !== null
            if (!done) expect(origin.tenant.head.seq).toBe(seq)
            expect(head).toBeGreaterThanOrEqual(base)
            return done
          })

          expect(merges[0]).toBe(true)
          if (merges.every(Boolean)) {
            const [mine, theirs] = [a!, b!].map(({ operations }) => new Set(operations.flatMap(touched)))
            expect([...theirs!].filter((field) => overlaps(field, mine!))).toEqual([])
            const sequence = world()
            for (const { operations } of [a!, b!]) {
              for (const { type, verb, id, data } of operations)
                sequence.tenant.run(REVIEWER, { type, verb, id, data: data ?? {}, keepId: true })
            }
            expect(state(origin.tenant)).toEqual(state(sequence.tenant))
          } else {
            const alone = forked(first)
            expect(values(origin.tenant, origin.ids)).toEqual(values(alone.tenant, alone.ids))
          }
        }),
        options,
      )
    },
  )

  /** The fields that an operation of a fork touches. */
  function touched({ verb, id, data }: { verb: string; id: string; data?: object }): string[] {
    if (verb === 'create') return []
    return verb === 'delete' || verb === 'restore'
      ? [`${id} *`]
      : Object.keys(data ?? {}).map((field) => `${id} ${field}`)
  }

  /** A fork of the world that did some steps, and what it says that it did. */
  function forked(steps: readonly Step[]) {
    const { tenant, ids } = world()
    writeOrigin(tenant.sql, { tenant: 'acme', seq: tenant.head.seq })
    // Ids of a fork are its own.
    tenant.equip({ random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) } })
    run(tenant, WRITER, ids, steps)
    return { tenant, ids, head: tenant.head.seq, operations: forkChanges(tenant.engine, grantFor('reader')).operations }
  }
})

test('a proposal that was made on a state is in conflict with that state being gone, whatever the order of its parts', () => {
  const { tenant, ids } = world()
  const id = proposeAll(tenant, ids, [
    { do: 'update', at: 0, field: 'title', value: 'a' },
    { do: 'delete', at: 1 },
    { do: 'create', value: 'a' },
  ])!
  run(tenant, WRITER, ids, [
    { do: 'delete', at: 0 },
    { do: 'restore', at: 0 },
    { do: 'update', at: 1, field: 'city', value: 'a' },
  ])

  const { conflicts } = tenant.write(REVIEWER, (write) => review(write, id))

  expect(conflicts.map(({ operation, field }) => [operation, field])).toEqual([
    [1, undefined],
    [2, undefined],
  ])
})
