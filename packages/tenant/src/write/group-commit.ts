import type { Engine, Transaction } from '../engine/engine.ts'

type Task = {
  readonly work: (transaction: Transaction) => unknown
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** Writes of one tick share one commit: each whole or not at all, and none answered before the disk has it. */
export class GroupCommit {
  readonly #engine: Engine
  readonly #soon: (run: () => void) => void
  #queue: Task[] = []

  /** `soon` runs something after the input that is at hand has been read: `setImmediate` on Node. */
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
    const tasks = this.#queue
    this.#queue = []
    let answers: (() => void)[] = []
    try {
      this.#engine.commit((transaction) => {
        answers = tasks.map((task) => attempt(transaction, task))
      }, 'repeatable')
    } catch (reason) {
      // The commit itself failed (a full disk, for example): nothing of it was written, for any of them.
      for (const task of tasks) task.failed(reason)
      return
    }
    for (const answer of answers) answer()
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
