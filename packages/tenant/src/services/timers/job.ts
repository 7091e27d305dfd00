import { Problem } from '@tildebase/nouns'
import type { Job } from '../../engine/scheduler.ts'
import { dueTimers, failTimer, nextTimer, postponeTimer, type TimerRow } from '../../store/timers.ts'
import { HOOKS_PENDING } from '../../write/hook-answers.ts'
import type { Transactor } from '../../write/transactor.ts'
import { answersFor, attemptWrite, runNow } from '../scripts/run-write.ts'
import { fire, grantOfTimer } from './fire.ts'

/**
 * A slice ends after this many milliseconds, or this many timers if the clock does not advance, so that requests can
 * run.
 */
const SLICE_MS = 8
const SLICE = 50
/** How long a verb waits whose hooks cannot be asked now. */
const BUSY_MS = 5_000

/** Runs the timers that are due, in the order of time, in slices that each are one commit. */
export function timerJob(transactor: Transactor): Job {
  const { sql } = transactor.engine
  return {
    due: () => nextTimer(sql),
    run: async () => {
      const stopped = runSlice(transactor)
      if (stopped) await runAlone(transactor, stopped)
    },
  }
}

/** Runs a slice. Returns the timer at which it stopped because stored hooks have to be asked about its verb. */
function runSlice(transactor: Transactor): TimerRow | null {
  const { engine } = transactor
  const { clock } = engine.ports
  const begun = clock.now()
  const due = dueTimers(engine.sql, begun, SLICE)
  let stopped: TimerRow | null = null
  engine.commit((transaction) => {
    stopped = null
    for (const row of due) {
      const context = { hops: row.hops + 1 }
      const answers = answersFor(transactor)
      try {
        transaction.savepoint(() =>
          attemptWrite(transactor, transaction, answers, grantOfTimer(row), context, (write) => fire(write, row)),
        )
      } catch (reason) {
        if (reason === HOOKS_PENDING) {
          stopped = row
          return
        }
        refused(transactor, row, reason)
      }
      if (clock.now() - begun >= SLICE_MS) return
    }
  }, 'repeatable')
  return stopped
}

async function runAlone(transactor: Transactor, row: TimerRow): Promise<void> {
  const { engine } = transactor
  try {
    await runNow(transactor, grantOfTimer(row), { hops: row.hops + 1 }, (write) => fire(write, row))
  } catch (reason) {
    if (!engine.scheduler.isClosed) engine.commit(() => refused(transactor, row, reason))
  }
}

/** A verb that was refused is not tried again: what refused it stays. The reason is shown where timers are listed. */
function refused({ engine }: Transactor, { n, type, name }: TimerRow, reason: unknown): void {
  if (!(reason instanceof Problem)) throw reason
  if (reason.code === 'busy') {
    postponeTimer(engine.sql, n, name, engine.ports.clock.now() + BUSY_MS)
    return
  }
  failTimer(engine.sql, n, name, reason.message)
  engine.options.log?.('warn', `The timer ${type}.${name} of ${engine.slug} failed`, { reason: reason.message })
}
