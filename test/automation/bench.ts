import type { Json, JsonObject } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import { openScript } from '../../packages/server/src/node/threads/script/script.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { type Bench, openAcme } from '../tenant/fixture.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** An event as a test looks at it. */
interface Seen {
  readonly seq: number
  readonly at: number
  readonly name: string
  readonly entity: string
  readonly actor: string
}

/** A tenant with a clock to move, whose jobs are run when they are due. */
export interface Automation extends Bench {
  /** Moves the clock and does what is due on the way, each at its time. */
  advance(ms: number): Promise<void>
  /** Does what is due now. */
  settle(): Promise<void>
  run(type: string, verb: string, id?: string, data?: JsonObject, grant?: Grant): JsonObject & { readonly $id: string }
  declare(type: string, notation: JsonObject): void
  entity(type: string, id: string): Record<string, Json>
  events(pattern?: RegExp): Seen[]
  iso(ms: number): string
}

export function openAutomation(...how: Parameters<typeof openAcme>): Automation {
  const bench = openAcme(...how)
  const { tenant, clock } = bench
  const settle = async () => {
    for (let i = 0; (tenant.facade.due() ?? Number.POSITIVE_INFINITY) <= clock.at; i++) {
      if (i > 5_000) throw new Error('The tenant does not come to rest.')
      await tenant.wake()
      await idle(tenant)
    }
  }
  return {
    ...bench,
    settle,
    async advance(ms) {
      const until = clock.at + ms
      for (;;) {
        await settle()
        const due = tenant.facade.due()
        if (due === null || due > until) break
        clock.at = Math.max(clock.at, due)
      }
      clock.at = until
      await settle()
    },
    run(type, verb, id, data = {}, grant = OPERATOR) {
      const { entity } = tenant.run(grant, { type, verb, ...(id !== undefined && { id }), data })
      return { ...JSON.parse(entity.data), $id: entity.id, $version: entity.version }
    },
    declare(type, notation) {
      tenant.write(OPERATOR, (write) => putType(write, type, notation))
    },
    entity(type, id) {
      const row = tenant.sql.rows('SELECT data FROM states WHERE type = ? AND id = ? AND gone = 0', type, id)[0]
      return row ? JSON.parse(row[0]) : {}
    },
    events(pattern = /./) {
      return tenant.sql
        .rows('SELECT seq, at, type, event, entity, actor FROM events ORDER BY seq')
        .map(([seq, at, type, event, entity, actor]) => ({ seq, at, name: `${type}.${event}`, entity, actor }))
        .filter(({ name }) => pattern.test(name))
    },
    iso: (ms) => new Date(clock.at + ms).toISOString(),
  }
}

/** The same, where code runs. */
export function openWithCode(): Automation & { stop(): Promise<void> } {
  const automation = openAutomation()
  const script = openScript({ most: 1 })
  automation.tenant.equip({ script })
  return { ...automation, stop: () => script.close() }
}

async function idle(tenant: Bench['tenant']): Promise<void> {
  while (tenant.facade.underWay > 0) await new Promise((done) => setTimeout(done, 2))
}
