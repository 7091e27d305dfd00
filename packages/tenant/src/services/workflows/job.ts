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
import { advance, type Outcome, type Task } from './run.ts'
import { nextTime } from './schedule.ts'
import { sendRequest } from './steps/request.ts'

/** The runs of a slice, which also ends after some milliseconds: requests have their turn. */
const SLICE = 50
/** Runs that wait for code or for hooks, per tenant; one per workflow. */
const MOST_IN_CODE = 4
/** Runs that wait for the answer of another service, per tenant. */
const MOST_REQUESTS = 64
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
  /** Workflows with a run that waits for code or for hooks. */
  readonly #workflows = new Set<string>()
  /** Runs that wait for the answer of another service. */
  readonly #runs = new Set<number>()

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  due(): number | null {
    const { sql, automation, ports } = this.#transactor.engine
    const queued = this.#isFull ? null : nextRun(sql, this.#inProgress)
    const run = automation.notBefore(queued, ports.clock.now())
    const schedule = nextSchedule(sql)
    return run === null || schedule === null ? (run ?? schedule) : Math.min(run, schedule)
  }

  run(): void {
    queueScheduled(this.#transactor)
    const { sql, ports, automation } = this.#transactor.engine
    const begun = ports.clock.now()
    for (const run of dueRuns(sql, begun, this.#inProgress, SLICE)) {
      if (automation.resumesAt(ports.clock.now()) > 0) return
      if (this.#workflows.has(run.workflow)) continue
      this.#start(run)
      if (this.#isFull || ports.clock.now() - begun >= TURN.bulk) return
    }
  }

  get #inProgress() {
    return { workflows: this.#workflows, runs: this.#runs }
  }

  get #isFull(): boolean {
    return this.#workflows.size >= MOST_IN_CODE || this.#runs.size >= MOST_REQUESTS
  }

  #start(run: RunRow): void {
    try {
      const given = advance(this.#transactor, run.n)
      if (given !== null) this.#transactor.engine.scheduler.track(this.#follow(run, given))
    } catch (reason) {
      this.#postpone(run, reason)
    }
  }

  /** Follows a run while it waits for code, for hooks or for another service. */
  async #follow(run: RunRow, given: Task | Promise<Task | null>): Promise<void> {
    const { scheduler, ports } = this.#transactor.engine
    try {
      let task = given instanceof Promise ? await this.#inCode(run, given) : given
      while (task !== null) {
        const { step } = task
        const outcome = await this.#do(run, task)
        if (outcome === null || scheduler.isClosed) return
        const next = advance(this.#transactor, run.n, { step, of: outcome })
        task = next instanceof Promise ? await this.#inCode(run, next) : next
      }
    } catch (reason) {
      if (!scheduler.isClosed) this.#postpone(run, reason)
    } finally {
      const due = scheduler.isClosed || scheduler.isStill ? null : this.due()
      if (due !== null) ports.alarm.wakeAt(due)
    }
  }

  async #do(run: RunRow, task: Task): Promise<Outcome | null> {
    if ('code' in task) return this.#inCode(run, runStepCode(this.#transactor, task))
    this.#runs.add(run.n)
    try {
      return await sendRequest(this.#transactor.engine, task)
    } finally {
      this.#runs.delete(run.n)
    }
  }

  /** Waits for code or hooks of a run; no other run of its workflow begins meanwhile. */
  async #inCode<T>({ workflow }: RunRow, work: Promise<T>): Promise<T> {
    this.#workflows.add(workflow)
    try {
      return await work
    } finally {
      this.#workflows.delete(workflow)
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
