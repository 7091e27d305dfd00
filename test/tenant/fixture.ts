import { catalogue, type Noun, nounsOf } from '@tildebase/nouns'
import { type Engine, Hooks, openTenant, type TenantOptions } from '@tildebase/tenant'
import { systemSeal } from '../../packages/server/src/node/ports.ts'
import { openSql } from '../../packages/server/src/node/sql.ts'

export interface Bench {
  readonly tenant: Engine
  readonly clock: { at: number }
  /** When the tenant asked to be woken. */
  readonly alarms: number[]
  readonly log: string[]
  /** Lets go of the file, and does nothing else. */
  close(): void
}

/** A tenant in memory, under the limits of a Durable Object, with a clock to move and chance that repeats. */
export function openAcme(options: Partial<TenantOptions> = {}, path = ':memory:'): Bench {
  const clock = { at: Date.UTC(2026, 0, 1) }
  const alarms: number[] = []
  const log: string[] = []
  const sql = openSql(path, { limits: true })
  const ports = {
    sql,
    clock: { now: () => clock.at },
    random: { bytes: pseudo(7) },
    seal: systemSeal,
    alarm: { wakeAt: (at: number) => void alarms.push(at) },
  }
  const nouns = nounsOf(Object.values(catalogue) as Noun[])
  const tenant = openTenant('acme', ports, {
    nouns,
    hooks: new Hooks(),
    baseUrl: 'http://localhost',
    log: (_, message) => void log.push(message),
    ...options,
  })
  return { tenant, clock, alarms, log, close: () => sql.close() }
}

/** Bytes that look like chance and repeat with the seed. */
export function pseudo(seed: number): (count: number) => Uint8Array {
  let state = seed
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
}
