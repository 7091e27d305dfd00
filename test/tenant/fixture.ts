import { catalogue, type Json, type Noun, nounsOf } from '@tildebase/nouns'
import { type Grant, type Ports, Tenant, type TenantOptions } from '@tildebase/tenant'
import { Hooks } from '@tildebase/tenant/hooks'
import type { Sql } from '@tildebase/tenant/ports'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { createVault } from '../../packages/server/src/host/vault.ts'
import { emptyTenant } from '../../packages/server/src/node/sqlite/files.ts'
import { type NodeSql, openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import type { Engine } from '../../packages/tenant/src/engine/engine.ts'
import { done, type Stepwise } from '../../packages/tenant/src/engine/turns.ts'
import { createServices, type TenantServices } from '../../packages/tenant/src/facade/create-services.ts'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import {
  isReadOperation,
  readOperation,
  type Session,
  sessionOf,
  writeOperation,
} from '../../packages/tenant/src/services/session.ts'
import type { Transactor } from '../../packages/tenant/src/write/group-commit.ts'
import { type Operation, runVerb } from '../../packages/tenant/src/write/run-verb.ts'
import { applyVerb } from '../../packages/tenant/src/write/verb.ts'
import type { RunResult, VerbRequest, VerbResult } from '../../packages/tenant/src/write/verb-request.ts'
import type { Write, WriteContext } from '../../packages/tenant/src/write/write.ts'

/** A tenant whose parts a test can reach: the facade, and below it the engine, synchronously. */
export class TestTenant {
  readonly facade: Tenant
  readonly services: TenantServices
  readonly transactor: Transactor
  readonly engine: Engine
  readonly sql: NodeSql

  constructor(services: TenantServices, sql: NodeSql, open: (sql: Sql) => TenantServices = () => services) {
    this.services = services
    this.transactor = services.transactor
    this.engine = services.transactor.engine
    this.facade = new Tenant(services, open)
    this.sql = sql
  }

  /** Runs a verb now, without rights, under the name of an actor. */
  act({ actor, ...request }: VerbRequest & { readonly actor: string }): VerbResult {
    return this.transactor.commitAs(actor, (write) => applyVerb(write, request))
  }

  /** Runs a verb now, with the rights of a grant. */
  run(grant: Grant, operation: Operation, context: Partial<WriteContext> = {}): RunResult {
    return this.transactor.commit(grant, context, (write) => runVerb(write, operation))
  }

  /** Runs a verb inside a write. */
  runIn(write: Write, operation: Operation): RunResult {
    return runVerb(write, operation)
  }

  /** Runs work in its own commit, now. */
  write<T>(grant: Grant, work: (write: Write) => Stepwise<T>, context: Partial<WriteContext> = {}): T {
    return this.transactor.commit(grant, context, (write) => done(work(write)))
  }

  /** The tenant's data for code, under the name of an actor: each write in its own commit. */
  session(actor: string): Session {
    const grant = grantFor(actor)
    return sessionOf((type: string, operation: string, args: readonly Json[]) =>
      isReadOperation(operation)
        ? readOperation({ engine: this.engine, grant }, type, operation, args)
        : this.write(grant, (write) => writeOperation(write, type, operation, args)),
    )
  }

  /** Replaces ports of the host from now on. */
  equip(ports: Partial<Ports>): void {
    Object.assign(this.engine.ports, ports)
  }

  get head() {
    return this.engine.head
  }

  wake(): Promise<void> {
    return this.facade.wake()
  }
}

export interface Bench {
  readonly tenant: TestTenant
  readonly clock: { at: number }
  /** When the tenant asked to be woken. */
  readonly alarms: number[]
  readonly log: string[]
  /** Closes the file, and does nothing else. */
  close(): void
}

/**
 * A tenant in memory, under the limits of a Durable Object, with a clock to move and random numbers that repeat. It begins
 * empty, or with the content of another one.
 */
export function openAcme(options: Partial<TenantOptions> = {}, path = ':memory:', content?: Uint8Array): Bench {
  const clock = { at: Date.UTC(2026, 0, 1) }
  const alarms: number[] = []
  const log: string[] = []
  const sql = openSql(path, { limits: true, content: path === ':memory:' ? (content ?? emptyTenant()) : undefined })
  const ports = {
    sql,
    clock: { now: () => clock.at },
    random: { bytes: pseudo(7) },
    seal: systemSeal,
    vault: testVault,
    alarm: { wakeAt: (at: number) => void alarms.push(at) },
  }
  const nouns = nounsOf(Object.values(catalogue) as Noun[])
  const given = {
    nouns,
    hooks: new Hooks(),
    baseUrl: 'http://localhost',
    log: (_: string, message: string) => void log.push(message),
    ...options,
  }
  const open = (over: Sql) => createServices('acme', { ...ports, sql: over }, given)
  return { tenant: new TestTenant(open(sql), sql, open), clock, alarms, log, close: () => sql.close() }
}

/** What encrypts secrets in tests. */
export const testVault = createVault('a key that is as long as keys have to be', 'acme')

/** Bytes that look random and repeat with the seed. */
export function pseudo(seed: number): (count: number) => Uint8Array {
  let state = seed
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
}
