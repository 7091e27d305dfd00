import type { Engine } from '../engine/engine.ts'
import { withHookAnswers } from '../services/scripts/stored-before.ts'

type Job = {
  readonly work: () => unknown
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** Where a write is handed in; it runs in a commit soon. */
export type WriteQueue = Pick<GroupCommit, 'run'>

/** Writes of one tick share one commit: each whole or not at all, and none answered before the disk has it. */
export class GroupCommit {
  readonly #tenant: Engine
  readonly #soon: (run: () => void) => void
  #queue: Job[] = []

  /** `soon` runs something after the input that is at hand has been read: `setImmediate` on Node. */
  constructor(tenant: Engine, soon: (run: () => void) => void) {
    this.#tenant = tenant
    this.#soon = soon
  }

  /** How many writes wait for the next commit. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Runs `work` in the next commit; its result comes when that commit is durable. Stored hooks are asked before. */
  run<T>(work: () => T): Promise<T> {
    return withHookAnswers(this.#tenant, (attempt) => this.#enqueue(attempt), work)
  }

  #enqueue<T>(work: () => T): Promise<T> {
    return new Promise<T>((done, failed) => {
      if (this.#queue.length === 0) this.#soon(() => this.#commit())
      this.#queue.push({ work, done: done as Job['done'], failed })
    })
  }

  #commit(): void {
    const jobs = this.#queue
    this.#queue = []
    let answers: (() => void)[] = []
    try {
      this.#tenant.transaction(() => {
        answers = jobs.map((job) => this.#attempt(job))
      }, 'repeatable')
    } catch (reason) {
      // The commit itself failed (a full disk, say): nothing of it is there, for nobody.
      for (const job of jobs) job.failed(reason)
      return
    }
    for (const answer of answers) answer()
  }

  #attempt(job: Job): () => void {
    try {
      const value = this.#tenant.transaction(() => job.work() as never)
      return () => job.done(value)
    } catch (reason) {
      return () => job.failed(reason)
    }
  }
}
