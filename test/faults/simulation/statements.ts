import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogue, type Noun, nounsOf, Problem } from '@tildebase/nouns'
import { Hooks } from '@tildebase/tenant/hooks'
import type { Sql, SqlValue, TransactionWay } from '@tildebase/tenant/ports'
import { systemSeal } from '../../../packages/server/src/host/ports.ts'
import { type NodeSql, openSql } from '../../../packages/server/src/node/sqlite/sql.ts'
import { createServices } from '../../../packages/tenant/src/facade/create-services.ts'
import { TestTenant, testVault } from '../../tenant/fixture.ts'

/** What happens when the statement comes at which the fault strikes. */
export type Strike = 'crash' | 'error'

const VERBS = ['create', 'create', 'update', 'update', 'delete', 'restore', 'qualify', 'rollback'] as const
const STEPS = 40

/** Runs a random history with a fault at a random statement; tells what is wrong afterwards. The seed repeats it all. */
export function simulate(seed: number, strike: Strike): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-sim-'))
  const chance = chanceOf(seed)
  const open = () => new FaultySql(openSql(join(folder, 'acme.db'), { limits: true }))
  let sql = open()
  try {
    const tenant = furnish(sql, chance)
    sql.strikeAfter(Math.floor(chance() * 400))
    const acknowledged = live(tenant, chance)
    sql.heal()
    if (strike === 'error') return judge(tenant, acknowledged)
    sql.real.close()
    sql = open()
    return judge(furnish(sql, chance), acknowledged)
  } finally {
    sql.real.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The versions that were acknowledged, by id; null is a deletion. */
type Acknowledged = Map<string, number | null>

function live(tenant: TestTenant, chance: () => number): Acknowledged {
  const acknowledged: Acknowledged = new Map()
  let at = Date.UTC(2026, 0, 1)
  for (let step = 0; step < STEPS; step++) {
    const ids = [...acknowledged.keys()]
    const id = ids[Math.floor(chance() * ids.length)]
    const verb = id === undefined ? 'create' : VERBS[Math.floor(chance() * VERBS.length)]!
    at += 1_000
    const data =
      verb === 'rollback'
        ? { asOf: new Date(at - Math.floor(chance() * 20_000)).toISOString() }
        : { name: `n${Math.floor(chance() * 5)}`, email: chance() < 0.5 ? `e${Math.floor(chance() * 8)}@b.c` : null }
    try {
      const { entity } = tenant.act({
        type: 'Contact',
        verb,
        id: verb === 'create' ? undefined : id,
        data,
        actor: 'sim',
      })
      acknowledged.set(entity.id, verb === 'delete' ? null : entity.version)
    } catch (reason) {
      if (reason instanceof Struck) return acknowledged
      if (!(reason instanceof Problem)) throw reason
    }
  }
  return acknowledged
}

function judge(tenant: TestTenant, acknowledged: Acknowledged): string[] {
  const faults = tenant.facade.admin.verify().faults.map(({ seq, message }) => `${seq}: ${message}`)
  for (const [id, version] of acknowledged) {
    const [row] = tenant.sql.rows('SELECT version, gone FROM states WHERE id = ?', id)
    const found = row === undefined ? 'missing' : row[1] === 1 ? null : row[0]
    if (found !== version) faults.push(`${id} is ${found}; acknowledged was ${version}`)
  }
  // The tenant continues: the next write fits the chain, and text search finds it.
  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'afterwards' }, actor: 'sim' })
  const found = tenant.session('sim').Contact!.find!({ $text: 'afterwards' })
  if (found.length !== 1) faults.push(`text search finds ${found.length} of 1`)
  faults.push(...tenant.facade.admin.verify().faults.map(({ seq, message }) => `afterwards ${seq}: ${message}`))
  return faults
}

function furnish(sql: FaultySql, chance: () => number): TestTenant {
  let at = Date.UTC(2026, 0, 1)
  const services = createServices(
    'acme',
    {
      sql,
      clock: { now: () => (at += 7) },
      random: { bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(chance() * 256)) },
      seal: systemSeal,
      vault: testVault,
      alarm: { wakeAt: () => {} },
    },
    { nouns: nounsOf(Object.values(catalogue) as Noun[]), hooks: new Hooks(), baseUrl: 'http://localhost' },
  )
  return new TestTenant(services, sql.real)
}

class Struck extends Error {}

/** A database whose statements fail from a chosen one on. */
class FaultySql implements Sql {
  readonly real: NodeSql
  readonly tick: string
  #left = Number.POSITIVE_INFINITY

  constructor(real: NodeSql) {
    this.real = real
    this.tick = real.tick
  }

  strikeAfter(statements: number): void {
    this.#left = statements
  }

  heal(): void {
    this.#left = Number.POSITIVE_INFINITY
  }

  rows(sql: string, ...values: SqlValue[]): any[][] {
    this.#step()
    return this.real.rows(sql, ...values)
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#step()
    this.real.run(sql, ...values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T, way?: TransactionWay): T {
    this.#step()
    return this.real.transaction(work, way)
  }

  within<T>(ms: number, work: () => T): T {
    return this.real.within(ms, work)
  }

  #step(): void {
    if (--this.#left < 0) throw new Struck()
  }
}

function chanceOf(seed: number): () => number {
  let state = (seed + 1) >>> 0
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) / 4_294_967_296
  }
}

if (import.meta.main) {
  const seeds = Number(process.argv[2] ?? 5_000)
  const first = Number(process.argv[3] ?? 0)
  let failed = 0
  for (let seed = first; seed < first + seeds; seed++) {
    if (seed > first && (seed - first) % 500 === 0) process.stdout.write(`${seed - first} seeds, ${failed} faults\n`)
    for (const strike of ['crash', 'error'] as const) {
      const faults = simulate(seed, strike)
      if (faults.length === 0) continue
      failed++
      process.stdout.write(`seed ${seed} ${strike}: ${faults[0]}\n`)
    }
  }
  process.stdout.write(`${seeds * 2} histories, ${failed} with faults\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
