import { Problem } from '@tildebase/nouns'
import { TOO_LONG, unlimited } from '../../budget.ts'
import type { Job } from '../../engine/scheduler.ts'
import { done, TURN } from '../../engine/turns.ts'
import {
  cancelTimer,
  dueTimers,
  failTimer,
  nextTimer,
  postponeTimer,
  type TimerRow,
} from '../../store/automation/timers.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { HOOKS_PENDING } from '../../write/stored-hooks.ts'
import { answersFor, attemptWrite, runNow } from '../scripts/run-write.ts'
import { actingTimer, fire } from './fire.ts'

/** The timers of a slice, which also ends after some milliseconds: requests have their turn. */
const SLICE = 50
/** How long a verb waits whose hooks cannot be asked now. */
const BUSY_MS = 5_000

/** Runs the timers that are due, in the order of time, in slices that each are one commit. */
export function timerJob(transactor: Transactor): Job {
  const { sql, automation, ports } = transactor.engine
  return {
    due: () => automation.notBefore(nextTimer(sql), ports.clock.now()),
    run: async () => {
      const stopped = runSlice(transactor)
      if (stopped) await runAlone(transactor, stopped)
    },
  }
}

/** Runs a slice. Returns the timer at which it stopped: stored hooks have to be asked about its verb, or it takes too long. */
function runSlice(transactor: Transactor): TimerRow | null {
  const { engine } = transactor
  const { clock } = engine.ports
  const begun = clock.now()
  const due = dueTimers(engine.sql, begun, SLICE)
  let stopped: TimerRow | null = null
  let tooLong: TimerRow | null = null
  engine.commit((transaction) => {
    stopped = null
    for (const row of due) {
      // A commit in which a verb fails is run again, without a second attempt of this one.
      if (row === tooLong) {
        stopped = row
        return
      }
      const budget = unlimited(transactor.long ? engine.ports.turns?.now : undefined)
      const context = { hops: row.hops + 1, budget }
      const answers = answersFor(transactor)
      try {
        const acting = demandAuthor(transactor, row)
        if (acting === null) continue
        const { declaration, grant } = acting
        const attempt = () =>
          attemptWrite(transactor, transaction, answers, grant, context, (write) => fire(write, row, declaration))
        transaction.savepoint(() => budget.slice(TURN.attempt, () => done(attempt())))
      } catch (reason) {
        if (reason === TOO_LONG) tooLong = row
        if (reason === HOOKS_PENDING || reason === TOO_LONG) {
          stopped = row
          return
        }
        refused(transactor, row, reason)
      }
      if (clock.now() - begun >= TURN.bulk || engine.automation.resumesAt(clock.now()) > 0) return
    }
  }, 'repeatable')
  return stopped
}

async function runAlone(transactor: Transactor, row: TimerRow): Promise<void> {
  const { engine } = transactor
  try {
    const acting = demandAuthor(transactor, row)
    if (acting === null) return
    const { declaration, grant } = acting
    await runNow(transactor, grant, { hops: row.hops + 1 }, (write) => fire(write, row, declaration))
  } catch (reason) {
    if (!engine.scheduler.isClosed) engine.commit(() => refused(transactor, row, reason))
  }
}

/** The timer with the rights of its author; null when the type does not declare it any more. */
function demandAuthor({ engine }: Transactor, row: TimerRow): ReturnType<typeof actingTimer> {
  const acting = actingTimer(engine, row)
  if (acting !== null) return acting
  if (!Object.hasOwn(engine.nouns.get(row.type)?.timers ?? {}, row.name)) {
    cancelTimer(engine.sql, row.n, row.name)
    return null
  }
  throw new Problem(
    'forbidden',
    `The timer ${row.name} has no author with the rights that it needs. Declare the type again.`,
  )
}

/** A verb that was refused is not tried again: what refused it stays. The reason is shown where timers are listed. */
function refused({ engine }: Transactor, { n, type, name }: TimerRow, reason: unknown): void {
  if (!(reason instanceof Problem)) throw reason
  // There is no room for its event: it stays due.
  if (reason.code === 'over_quota') return
  if (reason.code === 'busy') {
    postponeTimer(engine.sql, n, name, engine.ports.clock.now() + BUSY_MS)
    return
  }
  failTimer(engine.sql, n, name, reason.message)
  engine.options.log?.('warn', `The timer ${type}.${name} of ${engine.slug} failed`, { reason: reason.message })
}
