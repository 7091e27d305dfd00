import type { Problem } from '@tildebase/nouns'
import { unlimited } from '../budget.ts'
import type { Engine, Transaction } from '../engine/engine.ts'
import { type Stepwise, TURN } from '../engine/turns.ts'
import { type Grant, grantFor } from '../grant/grant.ts'
import { UNSEEN } from './progress.ts'
import { Write, type WriteContext, type WriteExtensions } from './write.ts'

/** Runs a write as a task. Its result comes when others may write again. */
type LongWriter = <T>(grant: Grant, context: Partial<WriteContext>, work: (write: Write) => Stepwise<T>) => Promise<T>

/** Starts writes: with the clock and the random numbers of the host, and with what services add. */
export class Transactor {
  readonly engine: Engine
  readonly extensions: WriteExtensions = {
    listeners: [],
    listenerOf: {},
    pastListeners: [],
    verbs: {},
    derive: {},
    compute: () => undefined,
    session: () => null,
  }
  /** Runs a write of background work that takes too long for one commit, as a task; null where the host has none. */
  long: LongWriter | null = null

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Runs a write in its own commit, now. */
  commit<T>(grant: Grant, context: Partial<WriteContext>, work: (write: Write) => T): T {
    return this.engine.commit((transaction) => work(this.begin(transaction, grant, context)))
  }

  /** Runs a write of the service itself in its own commit, now. */
  commitAs<T>(actor: string, work: (write: Write) => T): T {
    return this.commit(grantFor(actor), { ignoresQuota: true }, work)
  }

  /** A write inside a transaction. */
  begin(transaction: Transaction, grant: Grant, context: Partial<WriteContext>): Write {
    const { clock, random } = this.engine.ports
    return new Write(transaction, this.extensions, grant, {
      clock: context.clock ?? clock,
      random: context.random ?? random,
      budget: context.budget ?? unlimited(),
      url: context.url ?? null,
      correlation: context.correlation ?? null,
      lens: context.lens,
      trace: context.trace ?? null,
      hops: context.hops ?? 0,
      hookAnswers: context.hookAnswers ?? null,
      secrets: context.secrets ?? new Set(),
      toCompute: context.toCompute ?? null,
      ignoresQuota: context.ignoresQuota ?? false,
      isDryRun: context.isDryRun ?? false,
      progress: context.progress ?? UNSEEN,
      recorder: context.recorder ?? null,
    })
  }
}

type Task = {
  /** When it began to wait. */
  readonly since: number
  readonly work: (transaction: Transaction) => unknown
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** Writes of one tick share one commit: each whole or not at all, and none answered before the disk has it. */
export class GroupCommit {
  readonly #engine: Engine
  readonly #soon: (run: () => void) => void
  readonly #queue: Task[] = []

  /** `soon` runs a callback after the available input has been read: `setImmediate` on Node. */
  constructor(engine: Engine, soon: (run: () => void) => void) {
    this.#engine = engine
    this.#soon = soon
  }

  /** How many writes wait for the next commit. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Runs `work` in the next commit. Its result comes when that commit is durable. */
  run<T>(work: (transaction: Transaction) => T): Promise<T> {
    return new Promise<T>((done, failed) => {
      if (this.#queue.length === 0) this.#soon(() => this.#commit())
      this.#queue.push({ since: this.#engine.ports.clock.now(), work, done: done as Task['done'], failed })
    })
  }

  /** Refuses the writes that have waited since a time, or for longer. */
  refuse(since: number, reason: () => Problem): void {
    let count = 0
    while (count < this.#queue.length && this.#queue[count]!.since <= since) count++
    for (const task of this.#queue.splice(0, count)) task.failed(reason())
  }

  #commit(): void {
    if (this.#queue.length === 0) return
    const ready = this.#engine.sql.ready?.(this.#queue.length)
    if (ready) {
      const again = () => this.#soon(() => this.#commit())
      return void ready.then(again, again)
    }
    let answers: (() => void)[] = []
    try {
      this.#engine.commit((transaction) => {
        answers = this.#attemptSome(transaction)
      }, 'repeatable')
    } catch (reason) {
      // The commit itself failed (a full disk, for example): nothing of it was written, for any of them.
      for (const task of this.#queue.splice(0)) task.failed(reason)
      return
    }
    this.#queue.splice(0, answers.length)
    if (this.#queue.length > 0) this.#soon(() => this.#commit())
    for (const answer of answers) answer()
  }

  /** Attempts the first writes of the queue. What takes long is left for the next commit, so that others have their turn. */
  #attemptSome(transaction: Transaction): (() => void)[] {
    const { turns } = this.#engine.ports
    const begun = turns?.now() ?? 0
    const answers: (() => void)[] = []
    for (const task of this.#queue) {
      answers.push(attempt(transaction, task))
      const ms = turns === undefined ? 0 : turns.now() - begun
      if (ms >= TURN.longest || (ms >= TURN.commit && turns?.isAwaited())) break
    }
    return answers
  }
}

function attempt(transaction: Transaction, { work, done, failed }: Task): () => void {
  try {
    const value = transaction.savepoint(() => work(transaction))
    return () => done(value as never)
  } catch (reason) {
    return () => failed(reason)
  }
}
