import { type JsonObject, Problem } from '@tildebase/nouns'
import { type Engine, Transaction } from '../engine/engine.ts'
import { asSteps, inTurns, type Steps, type Stepwise } from '../engine/turns.ts'
import type { Grant } from '../grant/grant.ts'
import { newId } from '../ids.ts'
import type { Sql } from '../ports.ts'
import type { IndexJob } from '../services/index-job.ts'
import { answersFor, attemptWrite, untilAnswered } from '../services/scripts/run-write.ts'
import { syncedUntil } from '../services/sync/sync.ts'
import { readLog } from '../store/log/log.ts'
import { type KeptTask, keepTask } from '../store/tasks.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import { TaskProgress } from '../write/progress.ts'
import type { HookAnswers } from '../write/stored-hooks.ts'
import type { Write, WriteContext } from '../write/write.ts'
import type { TenantServices } from './create-services.ts'

/** What a task says of a write. */
export interface TaskAbout<T> {
  /** What is done: `POST /schema/Contact/retype`. */
  readonly title: string
  /** What is kept of the result: no values of entities. */
  readonly result: (value: T) => JsonObject
  /** True when nothing of it is to be kept. */
  readonly isDryRun: boolean
  /** The background work that waits for it, and does nothing else meanwhile; absent for a request. */
  readonly waiter?: string
}

/** A write that takes long. */
export interface LongWrite<T> {
  readonly task: string
  /** The result, once it is durable. */
  readonly done: Promise<T>
  /** Settles when others may write again, whatever came of it. */
  readonly ended: Promise<void>
}

type LongWork<T> = (write: Write, services: TenantServices) => Stepwise<T>

interface Running {
  readonly id: string
  readonly title: string
  readonly actor: string
  readonly onBehalfOf: string | null
  readonly startedAt: number
  readonly progress: TaskProgress
  /** Why it is to end, or null. */
  stop: Problem | null
  readonly ended: Promise<void>
}

/** Tasks of one tenant that run or wait. */
const MOST_TASKS = 10
/** Writes that wait for a task: a part of the requests that a tenant may have in progress, so that reads continue. */
const MOST_WAITING = 64
/** For how long a write waits for a task. */
const LONGEST_WAIT_MS = 30_000
/** When a refused write is to be sent again, in seconds. */
const RETRY = { unknown: 5, most: 60 }
/** Events of a dry run that its answer shows. */
const MOST_SHOWN = 1_000
const PAGE = 500

/**
 * Writes that take too long for one commit, one after the other. Each is a transaction of its own that lasts, in steps, with
 * turns for others in between. Until it is committed, all others see the state before it, and writes wait. A task that
 * fails, is cancelled or is cut off by a crash leaves nothing.
 */
export class LongWrites {
  readonly #services: TenantServices
  /** The services of the same tenant over another connection. */
  readonly #open: (sql: Sql) => TenantServices
  /** The writes that wait for the next commit. */
  readonly #commits: GroupCommit
  /** The task that others wait for. */
  #holder: Running | null = null
  readonly #running = new Map<string, Running>()
  #last: Promise<void> = Promise.resolve()

  constructor(services: TenantServices, open: (sql: Sql) => TenantServices, commits: GroupCommit) {
    this.#services = services
    this.#open = open
    this.#commits = commits
  }

  /** How many there are that have not ended. */
  get size(): number {
    return this.#running.size
  }

  /** What has not ended, in the order of its beginning. */
  get running(): readonly KeptTask[] {
    return [...this.#running.values()].map((one) => kept(one))
  }

  /** Refuses a write that would wait for a task if too many do already. */
  demandRoom(): void {
    if (this.#holder === null || this.#commits.waiting < MOST_WAITING) return
    throw heldUp(`${MOST_WAITING} writes wait for it`, secondsLeft(this.#holder, this.#now))
  }

  begin<T>(about: TaskAbout<T>, grant: Grant, context: Partial<WriteContext>, work: LongWork<T>): LongWrite<T> {
    if (this.#running.size >= MOST_TASKS) {
      throw new Problem('busy', `${MOST_TASKS} tasks of this tenant are waiting. Wait until one has ended.`)
    }
    const { clock, random } = this.#engine.ports
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const running: Running = {
      id: newId('task', clock, random),
      title: about.title,
      actor: grant.actor,
      onBehalfOf: grant.onBehalfOf ?? null,
      startedAt: clock.now(),
      progress: new TaskProgress(),
      stop: null,
      ended,
    }
    this.#running.set(running.id, running)
    const { scheduler } = this.#engine
    if (about.waiter !== undefined) scheduler.setAside(about.waiter)
    const { promise: done, resolve, reject } = Promise.withResolvers<T>()
    this.#last = this.#last
      .then(() => this.#run(running, about, grant, context, work, resolve))
      .catch((reason) => {
        this.#reportFault(running, reason)
        reject(reason)
      })
      .finally(() => {
        this.#running.delete(running.id)
        if (about.waiter !== undefined) scheduler.takeBack(about.waiter)
        end()
      })
    // No request waits for it once it was answered with its task.
    done.catch(() => {})
    return { task: running.id, done, ended }
  }

  /** Ends a task; settles when nothing of it is left, or when it was too late. */
  async cancel(id: string): Promise<void> {
    const running = this.#running.get(id)
    if (!running) return
    running.stop ??= CANCELLED
    await running.ended
  }

  /** Ends all tasks: the tenant is about to be closed. */
  async rest(): Promise<void> {
    for (const running of this.#running.values()) running.stop ??= STOPPED
    await this.#last
  }

  get #engine(): Engine {
    return this.#services.transactor.engine
  }

  get #now(): number {
    return this.#engine.ports.clock.now()
  }

  async #run<T>(
    running: Running,
    about: TaskAbout<T>,
    grant: Grant,
    context: Partial<WriteContext>,
    work: LongWork<T>,
    resolve: (value: T) => void,
  ): Promise<void> {
    const { transactor } = this.#services
    const { sql, scheduler } = this.#engine
    if (running.stop) throw running.stop
    // The task is on the disk before its transaction begins: after a crash it is known to have been cut off.
    await writable(sql)
    this.#engine.commit(() => keepTask(sql, kept(running)))
    try {
      await scheduler.pause()
      await this.#prepareReads()
      const answers = answersFor(transactor)
      const value = await untilAnswered(transactor, answers, context, () =>
        this.#attempt(running, about, answers, grant, context, work, resolve),
      )
      const ended = () => ({ ...kept(running, this.#now), result: about.result(value) })
      if (about.isDryRun) this.#engine.commit(() => keepTask(sql, ended()))
    } catch (reason) {
      if (!scheduler.isClosed) this.#engine.commit(() => keepTask(sql, failed(running, reason, this.#now)))
      throw reason
    } finally {
      scheduler.resume()
    }
  }

  /** Writes what reads would write: they continue during a task, and only read then. */
  async #prepareReads(): Promise<void> {
    const engine = this.#engine
    const { indexing } = this.#services
    await writable(engine.sql)
    engine.commit(() => {
      for (const noun of engine.nouns.all) engine.indexed(noun)
    })
    await inTurns(engine.ports.turns, catchingUp(indexing))
  }

  async #attempt<T>(
    running: Running,
    about: TaskAbout<T>,
    answers: HookAnswers,
    grant: Grant,
    context: Partial<WriteContext>,
    work: LongWork<T>,
    resolve: (value: T) => void,
  ): Promise<T> {
    const engine = this.#engine
    const { turns } = engine.ports
    running.progress.restart()
    const { indexing } = this.#services
    // What was written since is little, and is indexed at once.
    const long = await engine.sql.long!(() => void indexing.runSlice())
    this.#holder = running
    let isOpen = true
    try {
      const services = this.#open(long.sql)
      const { automation } = services.transactor.engine
      automation.continueFrom(engine.automation)
      const transaction = new Transaction(services.transactor.engine)
      const own = {
        ...context,
        progress: running.progress,
        ...(context.budget && { budget: context.budget.unhurried() }),
      }
      const attempt = () =>
        attemptWrite(services.transactor, transaction, answers, grant, own, (write) => work(write, services))
      const value = await inTurns(turns, this.#steps(running, transaction, about.isDryRun ? MOST_SHOWN : 0, attempt))
      transaction.checkHead()
      if (!about.isDryRun) {
        // Long reads and those of the past find it folded when it is committed: they write nothing before others may.
        await inTurns(turns, folding(services.indexing))
        keepTask(long.sql, { ...kept(running, this.#now), result: about.result(value) })
        isOpen = false
        const { seq } = engine.head
        const durable = long.commit()
        engine.refresh()
        engine.automation.continueFrom(automation)
        engine.syncedUntil = syncedUntil(engine)
        await durable
        await inTurns(turns, announce(engine, seq))
      }
      resolve(value)
      return value
    } finally {
      if (isOpen) long.rollback()
      await long.release()
      this.#holder = null
    }
  }

  /** The steps of a write, which end when the task is stopped. Events of a committed write are read from the log again. */
  *#steps<T>(running: Running, transaction: Transaction, events: number, work: () => Stepwise<T>): Steps<T> {
    const steps = asSteps(work())
    for (;;) {
      if (running.stop) throw running.stop
      this.#refuseLate(running)
      const step = steps.next()
      if (step.done) return step.value
      transaction.forgetEvents(events)
      yield
    }
  }

  /** Refuses the writes that have waited for too long. */
  #refuseLate(running: Running): void {
    const now = this.#now
    this.#commits.refuse(now - LONGEST_WAIT_MS, () =>
      heldUp(`this write has waited for ${LONGEST_WAIT_MS / 1_000} s`, secondsLeft(running, now)),
    )
  }

  #reportFault({ id }: Running, reason: unknown): void {
    if (reason instanceof Problem) return
    const { options, slug } = this.#engine
    options.log?.('error', `The task ${id} of ${slug} failed`, { reason: String(reason) })
  }
}

const CANCELLED = new Problem('conflict', 'The task was cancelled. Nothing was changed.')
const STOPPED = new Problem('unavailable', 'The service stopped before the task was done. Nothing was changed.')

/** The commit that follows has a turn of its own. */
function* folding(indexing: IndexJob): Steps<void> {
  while (!indexing.foldSlice()) yield
  yield
}

function* catchingUp(indexing: IndexJob): Steps<void> {
  while (!indexing.runSlice()) yield
}

async function writable(sql: Sql): Promise<void> {
  for (let wait = sql.ready?.(MOST_TASKS); wait; wait = sql.ready?.(MOST_TASKS)) await wait
}

/** Why a write is refused while a task changes the tenant. Nothing of it was written. */
function heldUp(fact: string, seconds: number): Problem {
  return new Problem('busy', `A task is changing this tenant, and ${fact}. Try again in ${seconds} s.`, {
    retryAfter: seconds,
  })
}

/** How long a task will take, going by its progress. */
function secondsLeft({ startedAt, progress: { done, total } }: Running, now: number): number {
  if (done === 0 || total === 0) return RETRY.unknown
  const left = Math.ceil(((now - startedAt) * (total - done)) / done / 1_000)
  return Math.min(Math.max(left, 1), RETRY.most)
}

/** Gives the events after a seq to those who follow the log. Nothing is written meanwhile. */
function* announce(engine: Engine, after: number): Steps<void> {
  for (let seq = after; seq < engine.head.seq; ) {
    const events = readLog(engine.sql, seq, PAGE)
    if (events.length === 0) return
    engine.announce(events)
    seq = events.at(-1)!.seq
    yield
  }
}

function kept({ id, title, actor, onBehalfOf, startedAt, progress }: Running, endedAt: number | null = null): KeptTask {
  const state = endedAt === null ? 'running' : 'done'
  return { id, title, actor, onBehalfOf, startedAt, state, endedAt, ...progress, result: null, error: null }
}

function failed(running: Running, reason: unknown, endedAt: number): KeptTask {
  const { code, message } = reason instanceof Problem ? reason : { code: 'internal', message: 'An internal error.' }
  const state = reason === CANCELLED ? 'cancelled' : 'failed'
  return { ...kept(running, endedAt), state, error: { code, message } }
}
