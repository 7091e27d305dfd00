import type { Job } from '../../engine/scheduler.ts'
import { inTurns, type Steps, sliceOf } from '../../engine/turns.ts'
import { newId } from '../../ids.ts'
import {
  addRun,
  type DueRun,
  dueRuns,
  forgetRuns,
  holdRun,
  nextRun,
  oldestEnd,
} from '../../store/automation/workflow-runs.ts'
import { dueSchedules, nextSchedule, scheduleWorkflow } from '../../store/automation/workflows.ts'
import { currentOf } from '../../store/entities.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { runStepCode } from './code.ts'
import { definitionOf } from './definition.ts'
import { type Advanced, advance, advanceIn, type Continuation, type Outcome, type Task } from './run.ts'
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

/** What became of a step, until it is written down. */
interface Ended extends Continuation {
  readonly written: (outcome: { readonly next: Advanced }) => void
  readonly failed: (reason: unknown) => void
}

/** Continues with a run in a commit that others share, or says that it needs one of its own. */
type AdvanceOne = (continuation: Continuation) => Task | null | 'alone'

class Runs {
  readonly #transactor: Transactor
  /** Workflows with a run that waits for code or for hooks. */
  readonly #workflows = new Set<string>()
  /** Runs that wait for the answer of another service. */
  readonly #runs = new Set<number>()
  /** Done, and not written down yet. */
  #ended: Ended[] = []
  #isWaking = false

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  due(): number | null {
    const { sql, automation, ports } = this.#transactor.engine
    const isFull = this.#workflows.size >= MOST_IN_CODE || this.#runs.size >= MOST_REQUESTS
    const queued = isFull ? null : nextRun(sql, this.#inProgress)
    const run = automation.notBefore(queued, ports.clock.now())
    const schedule = nextSchedule(sql)
    return run === null || schedule === null ? (run ?? schedule) : Math.min(run, schedule)
  }

  run(): void {
    queueScheduled(this.#transactor)
    const { sql, ports, automation, scheduler } = this.#transactor.engine
    const isOver = sliceOf(ports)
    const inCode = new Set(this.#workflows)
    const begins: { readonly run: DueRun; readonly task: Task | null | 'alone' }[] = []
    const due = dueRuns(sql, ports.clock.now(), this.#inProgress, SLICE)
    const isWritten = this.#together(due.length, (advanceOne) => {
      for (const run of due) {
        const isFull = inCode.size >= MOST_IN_CODE || this.#runs.size + begins.length >= MOST_REQUESTS
        if (isFull || automation.resumesAt(ports.clock.now()) > 0 || (begins.length > 0 && isOver())) return
        if (inCode.has(run.workflow)) continue
        const task = advanceOne({ n: run.n, outcome: null })
        begins.push({ run, task })
        // What is continued alone may wait for hooks.
        if (task === 'alone' || (task !== null && 'code' in task)) inCode.add(run.workflow)
      }
    })
    for (const { run, task } of begins) {
      if (!isWritten || task === 'alone') this.#start(run)
      else if (task !== null) scheduler.track(this.#follow(run, task))
    }
  }

  get #inProgress() {
    return { workflows: this.#workflows, runs: this.#runs }
  }

  /** Continues with runs in one commit: a commit costs more than most steps. False when nothing of it was written. */
  #together(count: number, work: (advanceOne: AdvanceOne) => void): boolean {
    if (count === 0) return true
    try {
      this.#transactor.engine.commit((transaction) =>
        work((continuation) => {
          try {
            return advanceIn(this.#transactor, transaction, continuation)
          } catch {
            return 'alone'
          }
        }),
      )
      return true
    } catch {
      // Each is tried again alone, and says why it fails.
      return false
    }
  }

  #start(run: DueRun): void {
    try {
      const advanced = advance(this.#transactor, { n: run.n, outcome: null })
      if (advanced !== null) this.#transactor.engine.scheduler.track(this.#follow(run, advanced))
    } catch (reason) {
      this.#postpone(run, reason)
    }
  }

  /** Follows a run while it waits for code, for hooks or for another service. */
  async #follow(run: DueRun, given: Advanced): Promise<void> {
    const { scheduler } = this.#transactor.engine
    try {
      let next = given
      while (next !== null) {
        next = next instanceof Promise ? await this.#inCode(run, next) : (await this.#finish(run, next)).next
      }
    } catch (reason) {
      if (!scheduler.isClosed) this.#postpone(run, reason)
    } finally {
      this.#wakeSoon()
    }
  }

  /** Looks for what is due next, once for all runs that have just ended. */
  #wakeSoon(): void {
    const { scheduler, ports } = this.#transactor.engine
    if (this.#isWaking) return
    this.#isWaking = true
    queueMicrotask(() => {
      this.#isWaking = false
      if (scheduler.isClosed || scheduler.isStill) return
      try {
        const due = this.due()
        if (due !== null) ports.alarm.wakeAt(due)
      } catch {
        // A file that fails cannot tell. Nothing waits for this callback: an exception would end the process.
        ports.alarm.wakeAt(ports.clock.now() + PAUSE)
      }
    })
  }

  /** Does a step outside of transactions, and writes down what became of it. Until then nothing begins with the run. */
  #finish(run: DueRun, task: Task): Promise<{ readonly next: Advanced }> {
    return 'code' in task
      ? this.#inCode(run, this.#settled(run, task.step, runStepCode(this.#transactor, task)))
      : this.#inRequest(run, this.#settled(run, task.step, sendRequest(this.#transactor.engine, task)))
  }

  /** Waits for code or hooks of a run; no other run of its workflow begins meanwhile. */
  async #inCode<T>({ workflow }: DueRun, work: Promise<T>): Promise<T> {
    this.#workflows.add(workflow)
    try {
      return await work
    } finally {
      this.#workflows.delete(workflow)
    }
  }

  async #inRequest<T>({ n }: DueRun, work: Promise<T>): Promise<T> {
    this.#runs.add(n)
    try {
      return await work
    } finally {
      this.#runs.delete(n)
    }
  }

  async #settled({ n }: DueRun, step: number, work: Promise<Outcome | null>): Promise<{ readonly next: Advanced }> {
    const { scheduler, ports } = this.#transactor.engine
    const of = await work
    if (of === null || scheduler.isClosed) return { next: null }
    return new Promise((written, failed) => {
      this.#ended.push({ n, outcome: { step, of }, written, failed })
      if (this.#ended.length === 1) queueMicrotask(() => void inTurns(ports.turns, this.#writeDown()))
    })
  }

  /** Writes down what has ended, slice by slice: what ends at about the same time shares a commit. */
  *#writeDown(): Steps<void> {
    while (this.#ended.length > 0) {
      this.#writeSome()
      yield
    }
  }

  #writeSome(): void {
    const { scheduler, ports } = this.#transactor.engine
    const isOver = sliceOf(ports)
    const ended = this.#ended
    const tasks: (Task | null | 'alone')[] = []
    // A closed file takes nothing: the steps are done again when it is open.
    const isWritten = this.#together(scheduler.isClosed ? 0 : ended.length, (advanceOne) => {
      for (const one of ended) {
        if (tasks.length > 0 && isOver()) return
        tasks.push(advanceOne(one))
      }
    })
    if (scheduler.isClosed) tasks.push(...ended.map(() => null))
    // A commit that could not begin, as on a disk that fails: the first of them is tried alone, and fails with the reason.
    if (tasks.length === 0) tasks.push('alone')
    this.#ended = ended.slice(tasks.length)
    for (const [i, task] of tasks.entries()) {
      const { n, outcome, written, failed } = ended[i]!
      try {
        written({ next: isWritten && task !== 'alone' ? task : advance(this.#transactor, { n, outcome }) })
      } catch (reason) {
        failed(reason)
      }
    }
  }

  /** Leaves a run for later that the service itself could not continue with, so that it does not hold up the others. */
  #postpone({ n, id }: DueRun, reason: unknown): void {
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
