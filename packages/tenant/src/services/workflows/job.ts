import type { Job } from '../../engine/scheduler.ts'
import { TURN } from '../../engine/turns.ts'
import { newId } from '../../ids.ts'
import {
  addRun,
  dueRuns,
  forgetRuns,
  holdRun,
  nextRun,
  oldestEnd,
  type RunRow,
} from '../../store/automation/workflow-runs.ts'
import { dueSchedules, nextSchedule, scheduleWorkflow } from '../../store/automation/workflows.ts'
import { currentOf } from '../../store/entities.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { runStepCode } from './code.ts'
import { definitionOf } from './definition.ts'
import { advance, type CodeTask } from './run.ts'
import { nextTime } from './schedule.ts'

/** The runs of a slice, which also ends after some milliseconds: requests have their turn. */
const SLICE = 50
/** Runs that wait for code or for hooks, per tenant; one per workflow. */
const MOST_IN_FLIGHT = 4
/** How long a run waits that failed for a reason of the service's own. */
const PAUSE = 30_000
/** How long the runs that have ended are kept. */
const KEEP = 30 * 86_400_000
const FORGET_SLICE = 200

/** Runs workflows: what their events and schedules have queued. */
export function workflowJob(transactor: Transactor): Job {
  const runs = new Runs(transactor)
  return { due: () => runs.due(), run: () => runs.run() }
}

/** Forgets runs after their time. */
export function forgetRunsJob({ engine }: Transactor): Job {
  return {
    light: true,
    due: () => {
      const oldest = oldestEnd(engine.sql)
      return oldest === null ? null : oldest + KEEP
    },
    run: () => engine.commit(() => forgetRuns(engine.sql, engine.ports.clock.now() - KEEP, FORGET_SLICE)),
  }
}

class Runs {
  readonly #transactor: Transactor
  /** Workflows with a run in progress that waits for something. */
  readonly #inFlight = new Set<string>()

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  due(): number | null {
    const { sql, automation, ports } = this.#transactor.engine
    const queued = this.#inFlight.size < MOST_IN_FLIGHT ? nextRun(sql, [...this.#inFlight]) : null
    const run = automation.notBefore(queued, ports.clock.now())
    const schedule = nextSchedule(sql)
    return run === null || schedule === null ? (run ?? schedule) : Math.min(run, schedule)
  }

  run(): void {
    queueScheduled(this.#transactor)
    const { sql, ports, automation } = this.#transactor.engine
    const begun = ports.clock.now()
    for (const run of dueRuns(sql, begun, [...this.#inFlight], SLICE)) {
      if (automation.resumesAt(ports.clock.now()) > 0) return
      if (this.#inFlight.has(run.workflow)) continue
      this.#start(run)
      if (this.#inFlight.size >= MOST_IN_FLIGHT || ports.clock.now() - begun >= TURN.bulk) return
    }
  }

  #start(run: RunRow): void {
    try {
      const given = advance(this.#transactor, run.n)
      if (given === null) return
      this.#inFlight.add(run.workflow)
      this.#transactor.engine.scheduler.track(this.#follow(run, given))
    } catch (reason) {
      this.#postpone(run, reason)
    }
  }

  /** Follows a run while it waits for code or for hooks. */
  async #follow(run: RunRow, given: CodeTask | null | Promise<CodeTask | null>): Promise<void> {
    const { scheduler, ports } = this.#transactor.engine
    try {
      let task = await given
      while (task !== null) {
        const outcome = await runStepCode(this.#transactor, task)
        if (outcome === null || scheduler.isClosed) return
        task = await advance(this.#transactor, run.n, { step: task.step, of: outcome })
      }
    } catch (reason) {
      if (!scheduler.isClosed) this.#postpone(run, reason)
    } finally {
      this.#inFlight.delete(run.workflow)
      const due = scheduler.isClosed || scheduler.isResting ? null : this.due()
      if (due !== null) ports.alarm.wakeAt(due)
    }
  }

  /** Leaves a run for later that the service itself could not continue with, so that it does not hold up the others. */
  #postpone({ n, id }: RunRow, reason: unknown): void {
    const { engine } = this.#transactor
    engine.options.log?.('error', `The run ${id} of ${engine.slug} is blocked`, { reason: String(reason) })
    engine.commit(() => holdRun(engine.sql, n, engine.ports.clock.now() + PAUSE))
  }
}

/** Queues a run for each schedule that is due. Times that were missed meanwhile count once. */
function queueScheduled({ engine }: Transactor): void {
  const { sql, ports } = engine
  const now = ports.clock.now()
  const due = dueSchedules(sql, now)
  if (due.length === 0) return
  engine.commit(() => {
    for (const { id, at } of due) {
      const current = currentOf(sql, 'Workflow', id)
      const schedule = current && !current.deleted ? definitionOf(JSON.parse(current.data)).schedule : null
      scheduleWorkflow(sql, id, schedule && nextTime(schedule, now))
      const run = newId('run', ports.clock, ports.random)
      if (schedule) addRun(sql, { id: run, workflow: id, trigger: 'schedule', seq: null, at, due: now, hops: 0 })
    }
  })
}
