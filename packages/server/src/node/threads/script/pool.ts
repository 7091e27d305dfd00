import { Worker } from 'node:worker_threads'
import type { Json } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { ScriptAnswer, ScriptFailure, ScriptRequest } from '@tildebase/tenant/ports'
import { parseJson } from '../../../doors/call.ts'
import { currentCaller } from '../../../doors/caller.ts'
import { answerOf } from '../../../host/script/answer.ts'
import { ABANDONED, BUSY, refused, TOO_MUCH_MEMORY, tooLong } from '../../../host/script/failures.ts'
import type { FromWorker, Outcome, ToWorker } from '../../../host/script/messages.ts'
import { program } from './program.ts'

/** How many pieces of code of one owner may wait: as many as a tenant may have requests in progress. */
const MOST_WAITING = 256
/** How many owners are remembered with their last turn. */
const MOST_TURNS = 10_000
/** The extra time for code to stop after its limit, before its worker is ended. */
const GRACE_MS = 250
/** What a worker may compute in addition to the code: a new interpreter, reading the code, stopping it. */
const GRACE_CPU_MS = 100

interface Job {
  readonly request: ScriptRequest
  readonly answer: (answer: ScriptAnswer) => void
}

interface Seat {
  readonly worker: Worker
  ready: boolean
  owner: string | null
  run: Run | null
}

/** A run in progress: its job, and the calls that have not been answered. */
interface Run {
  readonly job: Job
  readonly calls: Set<Promise<void>>
  turn: Promise<void>
  /** True once it was ended: calls that have not begun do not begin. */
  stopped: boolean
  timer: NodeJS.Timeout | null
  readonly begun: number
  /** How many tasks it waits for, since when, and for how many milliseconds it waited before: waiting is not run time. */
  tasks: number
  tasksSince: number
  excusedMs: number
}

/** A few warm workers that run untrusted code, one at a time, and can be ended at any moment. */
export class ScriptPool {
  readonly #most: number
  readonly #priority: number
  readonly #seats = new Set<Seat>()
  #waiting: Job[] = []
  /** When owners had their last turn. */
  readonly #turns = new BoundedMap<string, number>(MOST_TURNS)
  #turn = 0
  #closed = false

  /** `priority` as `nice` means it: 0 is that of everything else, 19 the last. */
  constructor(most: number, priority: number) {
    this.#most = most
    this.#priority = priority
  }

  /** Runs code. It is stopped when the caller that it is run for disconnects. */
  run(request: ScriptRequest): Promise<ScriptAnswer> {
    const caller = currentCaller()
    return new Promise((answer) => {
      const ahead = this.#waiting.filter((job) => job.request.owner === request.owner)
      if (this.#closed || ahead.length >= MOST_WAITING) return answer({ error: BUSY, logs: [] })
      if (caller?.aborted) return answer({ error: ABANDONED, logs: [] })
      const abandon = () => this.#abandon(job)
      const job: Job = {
        request,
        answer: (given) => {
          caller?.removeEventListener('abort', abandon)
          answer(given)
        },
      }
      caller?.addEventListener('abort', abandon)
      this.#waiting.push(job)
      this.#seatNext()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { answer } of this.#waiting.splice(0)) answer({ error: BUSY, logs: [] })
    for (const { run } of this.#seats) if (run) this.#answer(run, { error: BUSY, logs: [] })
    await Promise.all([...this.#seats].map(({ worker }) => worker.terminate()))
  }

  /** Assigns the next code to a free worker: that of the owner with the least in progress, so that no owner takes all workers. */
  #seatNext(): void {
    const free = [...this.#seats].filter((seat) => seat.ready && seat.run === null)
    const starting = [...this.#seats].filter((seat) => !seat.ready).length
    // If all are in use there is one more, for an owner that has none.
    const isFull = this.#seats.size - free.length - starting >= this.#most
    const under = this.#inProgress()
    const next = isFull ? this.#waiting.filter(({ request }) => !under.has(request.owner)) : this.#waiting
    if (next.length > free.length + starting && this.#seats.size < this.#most + (isFull ? 1 : 0)) this.#addSeat()
    if (free.length === 0 || next.length === 0) return
    const job = next.reduce((best, one) => (this.#isBefore(one, best, under) ? one : best))
    this.#waiting.splice(this.#waiting.indexOf(job), 1)
    const { owner } = job.request
    this.#turns.set(owner, ++this.#turn)
    this.#start(free.find((seat) => seat.owner === owner) ?? free[0]!, job)
    this.#seatNext()
  }

  /** Whether a job comes before another: its owner has less in progress, or waits for longer. */
  #isBefore(one: Job, other: Job, under: ReadonlyMap<string, number>): boolean {
    const more = (under.get(one.request.owner) ?? 0) - (under.get(other.request.owner) ?? 0)
    return more < 0 || (more === 0 && this.#lastTurn(one) < this.#lastTurn(other))
  }

  #lastTurn({ request }: Job): number {
    return this.#turns.get(request.owner) ?? 0
  }

  /** Stops code whose caller has left, whether it runs or waits. */
  #abandon(job: Job): void {
    const at = this.#waiting.indexOf(job)
    if (at !== -1) {
      this.#waiting.splice(at, 1)
      job.answer({ error: ABANDONED, logs: [] })
      return
    }
    for (const seat of this.#seats) if (seat.run?.job === job) this.#end(seat, seat.run, ABANDONED)
  }

  /** How much code of each owner runs. */
  #inProgress(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { run } of this.#seats) {
      const owner = run?.job.request.owner
      if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
    return counts
  }

  #addSeat(): void {
    // Where it fails, the worker fails too.
    program().catch(() => {})
    const worker = new Worker(new URL(import.meta.resolve('#threads/script')), {
      // A stack that the interpreter's own bound is reached in first, and a bound on what surrounds it.
      resourceLimits: { stackSizeMb: 32, maxOldGenerationSizeMb: 128 },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
      workerData: this.#priority,
      // The output of a broken interpreter is dropped.
      stdout: true,
      stderr: true,
    })
    worker.unref()
    const seat: Seat = { worker, ready: false, owner: null, run: null }
    this.#seats.add(seat)
    worker.on('message', (message: FromWorker) => this.#hear(seat, message))
    worker.on('error', () => {})
    worker.on('exit', () => this.#lost(seat))
  }

  #start(seat: Seat, job: Job): void {
    const { code, owner, values, now, timeMs, cpuMs, memoryBytes, operations, resultLength } = job.request
    const run: Run = {
      job,
      calls: new Set(),
      turn: Promise.resolve(),
      stopped: false,
      timer: null,
      begun: performance.now(),
      tasks: 0,
      tasksSince: 0,
      excusedMs: 0,
    }
    seat.run = run
    seat.owner = owner
    seat.worker.ref()
    this.#endInTime(seat, run)
    const limits = { timeMs, cpuMs: cpuMs ?? Number.POSITIVE_INFINITY, memoryBytes, operations, resultLength }
    const message: ToWorker = { kind: 'run', code, owner, values: JSON.stringify(values ?? {}), now, ...limits }
    seat.worker.postMessage(message)
    if (cpuMs !== undefined) void this.#watch(seat, run, cpuMs)
  }

  #hear(seat: Seat, message: FromWorker): void {
    if (message.kind === 'ready') seat.ready = true
    else if (message.kind === 'call' && seat.run) this.#call(seat, seat.run, message)
    else if (message.kind === 'done' && seat.run) {
      const { run } = seat
      this.#leave(seat)
      if (message.outcome.isBroken) this.#remove(seat)
      this.#answer(run, message.outcome)
    }
    this.#seatNext()
  }

  /** Answers the code's calls in the order they were made, each in its own turn so that others get theirs. */
  #call(seat: Seat, run: Run, { call, name, args }: Extract<FromWorker, { kind: 'call' }>): void {
    const reply = (ok: boolean, value: unknown) => {
      if (seat.run !== run) return
      const text = JSON.stringify(value ?? null)
      const message: ToWorker = { kind: 'reply', call, ok, text, excusedMs: excused(run) }
      seat.worker.postMessage(message)
    }
    const excuse = (task: Promise<unknown>) => waitFor(run, task)
    run.turn = run.turn.then(() => new Promise<void>((next) => setImmediate(next)))
    const answered = run.turn
      .then(() => (run.stopped ? null : run.job.request.call(name, parseJson(args) as Json[], excuse)))
      .then(
        (value) => reply(true, value),
        (reason) => reply(false, refused(reason)),
      )
    run.calls.add(answered)
    void answered.then(() => run.calls.delete(answered))
  }

  /** Ends code after its time, to which that of tasks is added. */
  #endInTime(seat: Seat, run: Run): void {
    const { timeMs } = run.job.request
    const left = run.begun + timeMs + GRACE_MS + excused(run) - performance.now()
    if (left <= 0) this.#end(seat, run, tooLong(timeMs))
    else run.timer = setTimeout(() => this.#endInTime(seat, run), Math.max(left, run.tasks > 0 ? GRACE_MS : 0))
  }

  /** Ends code that did not stop, with its worker. */
  #end(seat: Seat, run: Run, error: ScriptFailure): void {
    run.stopped = true
    this.#leave(seat)
    this.#remove(seat)
    this.#answer(run, { error, logs: [] })
    this.#seatNext()
  }

  /** Ends a worker that no other code may use. */
  #remove(seat: Seat): void {
    this.#seats.delete(seat)
    void seat.worker.terminate()
  }

  /**
   * Ends code that computes longer than it may inside a built-in function, where the interpreter cannot stop it: a
   * multiplication of large BigInts, a search in an array-like of endless length.
   */
  async #watch(seat: Seat, run: Run, cpuMs: number): Promise<void> {
    const before = await computed(seat.worker)
    while (before !== null && seat.run === run) {
      await new Promise((next) => setTimeout(next, cpuMs))
      const now = seat.run === run ? await computed(seat.worker) : null
      if (now === null || seat.run !== run) return
      if (now - before > cpuMs + GRACE_CPU_MS) this.#end(seat, run, tooLong(cpuMs, ' of computing'))
    }
  }

  /** A worker that ended used too much memory, or had an interpreter error. */
  #lost(seat: Seat): void {
    this.#seats.delete(seat)
    const { run } = seat
    // One that did not even start is not worth trying again for those who wait.
    if (!seat.ready) for (const { answer } of this.#waiting.splice(0)) answer({ error: BUSY, logs: [] })
    if (run === null) return
    run.stopped = true
    this.#leave(seat)
    this.#answer(run, { error: TOO_MUCH_MEMORY, logs: [] })
    this.#seatNext()
  }

  #leave(seat: Seat): void {
    if (seat.run?.timer) clearTimeout(seat.run.timer)
    seat.run = null
    seat.worker.unref()
  }

  /** Reports the end once every write that the code began is done too. */
  #answer(run: Run, outcome: Outcome): void {
    if (run.timer) clearTimeout(run.timer)
    void Promise.all(run.calls).then(() => run.job.answer(answerOf(outcome)))
  }
}

/** Notes that code waits for a task. */
function waitFor(run: Run, task: Promise<unknown>): void {
  if (run.tasks++ === 0) run.tasksSince = performance.now()
  const ended = () => {
    if (--run.tasks === 0) run.excusedMs += performance.now() - run.tasksSince
  }
  task.then(ended, ended)
}

/** For how long code has waited for tasks. */
function excused({ tasks, tasksSince, excusedMs }: Run): number {
  return tasks > 0 ? excusedMs + performance.now() - tasksSince : excusedMs
}

/** What a worker has computed, in milliseconds. Null if it has ended, and on versions of Node that do not measure it. */
async function computed(worker: Worker): Promise<number | null> {
  const usage = await worker.cpuUsage?.().catch(() => null)
  return usage ? (usage.user + usage.system) / 1_000 : null
}
