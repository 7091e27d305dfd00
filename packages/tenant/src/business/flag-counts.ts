import { isoOf, type Verb } from '@tildebase/nouns'
import type { Job } from '../engine/scheduler.ts'
import { currentOf } from '../store/entities.ts'
import type { Transactor } from '../write/group-commit.ts'
import { applyVerb } from '../write/verb.ts'
import type { Write } from '../write/write.ts'

const EVERY = 60_000

/** Counting is not an update that a client asked for: no BEFORE hook runs for it. */
const COUNT: Verb = { name: 'update', before: 'counting', event: 'updated' }

/** How often each flag was evaluated since that was last written down: a version a minute, not one a call. */
export class FlagCounts {
  readonly #transactor: Transactor
  readonly #flags = new Map<string, { count: number; at: number }>()
  #since = 0

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  /** Notes that a flag was evaluated, in memory. */
  add(id: string): void {
    const { clock, alarm } = this.#transactor.engine.ports
    const at = clock.now()
    if (this.#flags.size === 0) {
      this.#since = at
      alarm.wakeAt(at + EVERY)
    }
    this.#flags.set(id, { count: (this.#flags.get(id)?.count ?? 0) + 1, at })
  }

  /** Writes the counts once a minute, and when the tenant closes. */
  job(): Job {
    const run = () => {
      if (this.#flags.size === 0) return
      this.#transactor.commitAs('system', (write) => {
        for (const [id, { count, at }] of this.#flags) addCount(write, id, count, at)
      })
      this.#flags.clear()
    }
    return { due: () => (this.#flags.size > 0 ? this.#since + EVERY : null), run, flush: run, light: true }
  }
}

function addCount(write: Write, id: string, count: number, at: number): void {
  const flag = currentOf(write.sql, 'FeatureFlag', id)
  if (!flag || flag.deleted) return
  const { evaluations: before } = JSON.parse(flag.data)
  const evaluations = (typeof before === 'number' ? before : 0) + count
  const data = { evaluations, lastEvaluatedAt: isoOf(at) }
  applyVerb(write, { type: 'FeatureFlag', verb: 'update', id, data, internalVerb: COUNT })
}
