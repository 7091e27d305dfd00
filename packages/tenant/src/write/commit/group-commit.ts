import type { Engine, Transaction } from '../../engine/engine.ts'

type Task = {
  readonly work: (transaction: Transaction) => unknown
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** A commit ends after so many milliseconds: when requests wait for the thread, and in any case. */
const AWAITED_MS = 5
const LONGEST_MS = 20

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
      this.#queue.push({ work, done: done as Task['done'], failed })
    })
  }

  #commit(): void {
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
      if (ms >= LONGEST_MS || (ms >= AWAITED_MS && turns?.isAwaited())) break
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
