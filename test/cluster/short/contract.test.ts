import { afterAll, beforeAll, expect } from 'vitest'
import { readAddress } from '../../../packages/server/src/cluster/postgres/hosts.ts'
import { PostgresLog } from '../../../packages/server/src/cluster/postgres/postgres-log.ts'
import type { Change } from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { Chance } from '../../chance.ts'
import { verifies } from '../../verifies.ts'
import { LogState } from '../simulation/sim-log.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const SERIES = Number(process.env.TILDE_CONTRACT_RUNS ?? 60)
const STEPS = 60

const SLUGS = ['a', 'a-b', 'ab', 'b']
const SESSIONS = ['s1', 's2', 's3']
const NAMES: Readonly<Record<string, string>> = { s1: 'n1', s2: 'n2', s3: 'n1' }

let postgres: TestPostgres
let log: PostgresLog

beforeAll(async () => {
  postgres = await startPostgres()
  log = new PostgresLog({ address: readAddress(postgres.url), name: 'contract', timeout: 30_000 })
  await log.prepare()
})
afterAll(async () => {
  await log?.close()
  await postgres?.stop()
})

verifies(
  ['cluster.protocol', 'cluster.fence'],
  'the log of the simulation and PostgreSQL give the same answers to the same calls',
  async () => {
    for (let seed = 1; seed <= SERIES; seed++) {
      await postgres.query('TRUNCATE tilde_nodes, tilde_tenants, tilde_log, tilde_snapshots')
      await postgres.query('ALTER SEQUENCE tilde_epochs RESTART')
      await compareCalls(new Chance(seed), `series ${seed}`)
    }
  },
)

type Call = readonly [method: keyof LogState & keyof PostgresLog, ...args: unknown[]]

/** Makes the same calls to both logs. Epochs are compared, too: both count them from one. */
async function compareCalls(chance: Chance, name: string): Promise<void> {
  const state = new LogState()
  const made: string[] = []
  for (let step = 0; step < STEPS; step++) {
    const call = nextCall(chance, state)
    const [method, ...args] = call
    made.push(JSON.stringify(call))
    const simulated = (state[method] as (...args: unknown[]) => unknown).apply(state, args)
    const real = await (log[method] as (...args: unknown[]) => Promise<unknown>).apply(log, args)
    expect(plain(real), `${name}: ${made.join('\n')}`).toEqual(plain(simulated))
  }
  for (const slug of SLUGS) {
    const calls: Call[] = [
      ['find', [slug]],
      ['read', slug, 0],
      ['snapshot', slug],
    ]
    for (const [method, ...args] of calls)
      expect(plain(await (log[method] as (...args: unknown[]) => Promise<unknown>).apply(log, args)), name).toEqual(
        plain((state[method] as (...args: unknown[]) => unknown).apply(state, args)),
      )
  }
}

/** A call that mostly fits the state, so that it has an effect, and now and then does not. */
function nextCall(chance: Chance, state: LogState): Call {
  const slug = chance.pick(SLUGS)
  const session = chance.pick(SESSIONS)
  const tenant = state.tenants.get(slug)
  const wrong = (value: number) => (chance.next() < 0.2 ? value + chance.pick([-1, 1]) : value)
  const epoch = wrong(tenant?.epoch ?? 1)
  const head = wrong(tenant?.head ?? 0)
  const beat = wrong(state.nodes.get(session)?.beat ?? 0)
  const clock = Math.floor(chance.between(0, 1_000))
  const to = chance.pick([session, null])
  const layout = chance.pick([1, 1, 2])
  const after = chance.pick(['', ...SLUGS])
  const position = Math.floor(chance.between(0, head + 2))
  const saved = chance.pick([...state.parts.keys(), `${slug} none 0`]).split(' ')
  const calls: Call[] = [
    ...(state.nodes.has(session)
      ? []
      : [['join', { session, name: NAMES[session]!, url: 'u', layout: 1, version: 'v' }, clock] as const]),
    ['beat', session, clock],
    ['expire', session, beat],
    ['setDraining', chance.pick(['n1', 'n2', 'n3']), chance.next() < 0.5],
    ['find', SLUGS],
    ['heads', [slug]],
    ['list', after, 2],
    ['page', after, chance.pick([0, 1]), 2],
    ['counts'],
    ['orphans', session, 10],
    ['create', slug, session, { id: `first ${slug}`, layout: 1, parts: 1 }],
    ['create', slug, session, { id: `first ${slug}`, layout: 1, parts: 1 }],
    ['claim', [slug], session, layout],
    ['release', slug, epoch, to],
    ['setDue', slug, epoch, chance.pick([null, 0, clock])],
    ['setPin', slug, chance.pick([null, 'n1'])],
    ...Array.from(
      { length: 8 },
      (): Call => ['append', [{ slug, epoch, head, changes: changesAt(chance, head, epoch) }]],
    ),
    ['settle', [{ slug, epoch }]],
    ['read', slug, position],
    ['epochAt', slug, position],
    ['snapshot', slug],
    ['snapshotPart', saved[0]!, saved[1]!, 0],
    ['saveSnapshotPart', slug, `s${position}`, 0, new Uint8Array([position, clock % 256])],
    [
      'publishSnapshot',
      slug,
      { id: `s${position}`, n: position, epoch: epochAt(state, slug, position), layout, parts: 1 },
    ],
  ]
  // These end much: they come seldom.
  if (chance.next() < 0.1) calls.push(['leave', session], ['remove', slug, epoch, false], ['remove', slug, epoch, true])
  return chance.pick(calls)
}

function changesAt(chance: Chance, head: number, epoch: number): Change[] {
  return Array.from({ length: chance.pick([1, 1, 3]) }, (_, i) => ({
    n: head + 1 + i,
    epoch,
    before: i === 0 ? 0 : epoch,
    bytes: new Uint8Array([head, i]),
    erases: chance.next() < 0.1,
  }))
}

function epochAt(state: LogState, slug: string, n: number): number {
  return state.epochAt(slug, n) ?? 0
}

/** Maps, sets and bytes as values that can be compared; what the log does not keep of a change is left out. */
function plain(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Map) return Object.fromEntries([...value].toSorted())
  if (value instanceof Set) return [...value].toSorted()
  if (value instanceof Uint8Array) return [...value]
  if (Array.isArray(value)) return value.map(plain).toSorted(bySlug)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'erases')
      .map(([name, one]) => [name, plain(one)]),
  )
}

/** Rows of tenants come in no order where none was asked for. */
function bySlug(a: unknown, b: unknown): number {
  const [one, other] = [a, b].map((row) => (row as { slug?: string } | null)?.slug ?? '')
  return one! < other! ? -1 : one! > other! ? 1 : 0
}
