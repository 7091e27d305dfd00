import type { Alarm, Clock, Turns } from '../ports.ts'
import { TURN } from './turns.ts'

/** Background work that is due at a time: deliveries, AFTER hooks, expiries. */
export interface Job {
  /** When it next has something to do, or null. */
  due(): number | null
  run(): Promise<void> | void
  /** Writes down at once what would be lost with the tenant's memory. */
  flush?(): void
  /** True for work that no closed tenant is opened for. */
  readonly light?: boolean
}

/** What a scheduler needs of its tenant. */
export interface SchedulerOptions {
  readonly slug: string
  readonly clock: Clock
  readonly alarm: Alarm
  readonly turns?: Turns | undefined
  readonly log?: ((level: 'error', message: string, facts?: object) => void) | undefined
}

/** How long a failed job is left alone: a full disk does not get emptier by asking. */
const PAUSE = 5_000

/** The background work of a tenant: scheduled jobs, and work in progress without a request. */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly jobs: Job[] = []
  /** True once it starts no new background work. */
  isResting = false
  /** True once its database is closed. */
  isClosed = false
  #isPaused = false
  readonly #running = new Map<Job, Promise<void>>()
  /** The job that was begun last: the ones after it have their turn first. */
  #last: Job | null = null
  /** Until when each job that has failed is left alone, whatever the tenant is woken for. */
  readonly #failedUntil = new Map<Job, number>()
  readonly #underWay = new Set<Promise<void>>()
  /** Work in progress that waits for a task, each with how often it does. */
  readonly #aside = new Map<string, number>()
  #asideChanged = Promise.withResolvers<void>()
  readonly #endings = new Set<() => void>()

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** How much is in progress that belongs to no request: deliveries, AFTER hooks. A tenant with any is not closed. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** Counts something as in progress until it has ended. A failure goes to the log. */
  track(work: Promise<void>): void {
    const tracked = work
      .catch((reason) =>
        this.#options.log?.('error', `Background work of ${this.#options.slug} failed`, { reason: String(reason) }),
      )
      .then(() => void this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
  }

  /** True while it takes up nothing new. */
  get isStill(): boolean {
    return this.isResting || this.#isPaused
  }

  /** Takes up nothing new until `resume`, and waits until what is in progress has ended. */
  async pause(): Promise<void> {
    this.#isPaused = true
    while (this.#running.size + this.#underWay.size > this.#aside.size) {
      await Promise.race([...this.#underWay, ...this.#running.values(), this.#asideChanged.promise])
    }
    this.flush()
  }

  /** Says that one piece of the work in progress waits for a task: a pause does not wait for it. */
  setAside(work: string): void {
    this.#aside.set(work, (this.#aside.get(work) ?? 0) + 1)
    this.#asideChanged.resolve()
    this.#asideChanged = Promise.withResolvers()
  }

  /** Says that it continues. */
  takeBack(work: string): void {
    const count = this.#aside.get(work)! - 1
    if (count === 0) this.#aside.delete(work)
    else this.#aside.set(work, count)
  }

  resume(): void {
    this.#isPaused = false
    this.#scheduleNext()
  }

  /** Starts no new background work, ends the streams, and waits for work in progress. */
  async rest(): Promise<void> {
    this.isResting = true
    for (const end of this.#endings) end()
    await Promise.all(this.#underWay)
  }

  /** Writes down what is in memory only: the tenant is about to be closed. */
  flush(): void {
    for (const job of this.jobs) job.flush?.()
  }

  /** Calls `end` when the tenant is to be closed. Returns how to take that back. */
  onRest(end: () => void): () => void {
    this.#endings.add(end)
    return () => this.#endings.delete(end)
  }

  /** When the next job is due, or null. Work that a closing tenant interrupts is due at once. */
  due(asleep = false): number | null {
    if (asleep && (this.#running.size > 0 || this.#underWay.size > 0)) return this.#options.clock.now()
    const dues = this.jobs
      .filter((job) => !(asleep && job.light))
      .map((job) => (this.#running.has(job) ? null : this.#dueOf(job)))
      .filter((due) => due !== null)
    return dues.length > 0 ? Math.min(...dues) : null
  }

  /**
   * Runs the jobs that are due, side by side and none twice at once, and asks to be woken for the next. While requests wait, it
   * leaves jobs for then, once some have taken their time.
   */
  async wake(): Promise<void> {
    if (this.isStill) return
    const { clock, turns, alarm } = this.#options
    const now = clock.now()
    const begun = turns?.now() ?? 0
    const runs: Promise<void>[] = []
    let next: number | null = null
    // Each is asked once: most of them ask the database.
    for (const job of this.#inOrder()) {
      const due = this.#running.has(job) ? null : this.#dueOf(job)
      if (due === null) continue
      if (due > now) {
        next = Math.min(due, next ?? due)
        continue
      }
      runs.push(this.#run(job))
      this.#last = job
      if (turns && turns.now() - begun >= TURN.read && turns.isAwaited()) {
        next = now
        break
      }
    }
    // A job that takes long does not keep the others from their time.
    if (next !== null) alarm.wakeAt(next)
    if (runs.length === 0) return
    await Promise.all(runs)
    this.#scheduleNext()
  }

  #inOrder(): readonly Job[] {
    const first = this.#last === null ? 0 : this.jobs.indexOf(this.#last) + 1
    return [...this.jobs.slice(first), ...this.jobs.slice(0, first)]
  }

  #dueOf(job: Job): number | null {
    const due = job.due()
    return due === null ? null : Math.max(due, this.#failedUntil.get(job) ?? 0)
  }

  #scheduleNext(): void {
    const next = this.isClosed ? null : this.due()
    if (next !== null) this.#options.alarm.wakeAt(next)
  }

  #run(job: Job): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running.set(job, promise)
    this.#attempt(job).then(() => {
      this.#running.delete(job)
      resolve()
    })
    return promise
  }

  async #attempt(job: Job): Promise<void> {
    try {
      await job.run()
      this.#failedUntil.delete(job)
    } catch (reason) {
      this.#failedUntil.set(job, this.#options.clock.now() + PAUSE)
      this.#options.log?.('error', `A background job of ${this.#options.slug} failed`, { reason: String(reason) })
    }
  }
}
