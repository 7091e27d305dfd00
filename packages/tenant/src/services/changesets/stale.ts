import type { Verb } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import { oldestOpen } from '../../store/changesets.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { applyVerb } from '../../write/verb.ts'

const DAY = 86_400_000
const DEFAULT_DAYS = 30
const MOST_AT_ONCE = 100

/** The end of a changeset that was not decided in time: a verb of the service's own, which no client can name. */
const EXPIRE: Verb = { name: 'expire', before: 'expiring', event: 'expired', set: { state: 'Stale' } }

/** When a changeset of that age becomes stale. */
export function staleAt({ options }: Engine, createdAt: number): number {
  return createdAt + (options.changesetDays ?? DEFAULT_DAYS) * DAY
}

/** Sets changesets to Stale that were not decided in time. */
export function staleJob(transactor: Transactor): Job {
  const { engine } = transactor
  const oldest = () => engine.cache.get(['Changeset'], 'oldest open changeset', () => oldestOpen(engine.sql))
  const due = () => {
    const found = oldest()
    return found && staleAt(engine, found.createdAt)
  }
  return {
    due,
    run: () =>
      transactor.commitAs('system', (write) => {
        for (let count = 0; count < MOST_AT_ONCE; count++) {
          const found = oldestOpen(engine.sql)
          if (!found || staleAt(engine, found.createdAt) > engine.ports.clock.now()) return
          applyVerb(write, { type: 'Changeset', verb: EXPIRE.name, id: found.id, internalVerb: EXPIRE })
        }
      }),
  }
}
