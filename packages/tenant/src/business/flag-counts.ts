import { isoOf, type Verb } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import { currentOf } from '../store/entities.ts'
import { applyVerb } from '../write/verb.ts'

const EVERY = 60_000
/** Counting is no update of anybody's: no hook before one is asked about it. */
const COUNT: Verb = { name: 'update', before: 'counting', event: 'updated' }

/** How often each flag was evaluated since that was last written down. */
interface Counts {
  readonly flags: Map<string, { count: number; at: number }>
  since: number
}

const COUNTS = new WeakMap<Engine, Counts>()

/** Notes that a flag was evaluated, in memory. */
export function noteEvaluation(tenant: Engine, id: string): void {
  const counts = countsOf(tenant)
  const at = tenant.ports.clock.now()
  if (counts.flags.size === 0) {
    counts.since = at
    tenant.ports.alarm.wakeAt(at + EVERY)
  }
  counts.flags.set(id, { count: (counts.flags.get(id)?.count ?? 0) + 1, at })
}

/** Writes down once a minute, and at the end, how often flags were evaluated: a version a minute, not one a call. */
export function flagCountJob(tenant: Engine): Job {
  const counts = countsOf(tenant)
  const run = () => {
    if (counts.flags.size === 0) return
    tenant.transaction(() => {
      for (const [id, { count, at }] of counts.flags) write(tenant, id, count, at)
    })
    counts.flags.clear()
  }
  return { due: () => (counts.flags.size > 0 ? counts.since + EVERY : null), run, leave: run, light: true }
}

function countsOf(tenant: Engine): Counts {
  const known = COUNTS.get(tenant)
  if (known) return known
  const counts: Counts = { flags: new Map(), since: 0 }
  COUNTS.set(tenant, counts)
  return counts
}

function write(tenant: Engine, id: string, count: number, at: number): void {
  const flag = currentOf(tenant.sql, 'FeatureFlag', id)
  if (!flag || flag.deleted) return
  const { evaluations: before } = JSON.parse(flag.data)
  const evaluations = (typeof before === 'number' ? before : 0) + count
  const data = { evaluations, lastEvaluatedAt: isoOf(at) }
  applyVerb(tenant, { type: 'FeatureFlag', verb: 'update', id, data, actor: 'system', internalVerb: COUNT })
}
