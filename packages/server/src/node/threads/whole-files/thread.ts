import { constants } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Settings } from '../../../host/settings/settings.ts'
import { problemFrom } from '../flows.ts'
import { QUIET } from '../tenant-worker.ts'
import type { FileOutcome, FileProgress, FileResult, FileTask } from './tasks.ts'

/** How long a thread without a task is kept, unless its owner says otherwise. */
const IDLE_MS = 5_000
/** Small, since most of what it reads is garbage at once. The old generation holds a number for each entity. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1_024 }

/** What the thread begins with. */
export interface FileThreadStart {
  readonly settings: Settings
  readonly secretKey: string
  /** As the system counts it, where a thread can have its own. */
  readonly priority: number
}

/** A thread for work on whole files, so that no request waits for it. It exists while there is such work. */
export class FileThread {
  readonly #start: FileThreadStart
  readonly #idleMs: number
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: Settings, secretKey: string, priority = constants.priority.PRIORITY_LOW, idleMs = IDLE_MS) {
    this.#start = { settings, secretKey, priority }
    this.#idleMs = idleMs
  }

  /** Does a task when those before it are done. `tell` is called with the events that are done. */
  run(task: FileTask, tell: Tell = () => {}): Promise<FileResult> {
    const done = this.#last.then(() => this.#runNow(task, tell))
    this.#last = done.catch(() => {})
    return done
  }

  /** Starts the thread before its first task is there. */
  prepare(): void {
    if (this.#thread) return
    this.#thread = this.#begin()
    this.#idle = setTimeout(() => this.#end(), this.#idleMs).unref()
  }

  async close(): Promise<void> {
    if (this.#idle) clearTimeout(this.#idle)
    await this.#thread?.terminate()
  }

  async #runNow(task: FileTask, tell: Tell): Promise<FileResult> {
    if (this.#idle) clearTimeout(this.#idle)
    this.#thread ??= this.#begin()
    try {
      const outcome = await outcomeOf(this.#thread, task, tell)
      if ('refusal' in outcome) throw problemFrom(outcome.refusal)
      return outcome.result
    } finally {
      this.#idle = setTimeout(() => this.#end(), this.#idleMs).unref()
    }
  }

  #begin(): Worker {
    const thread = new Worker(new URL(import.meta.resolve('#threads/files')), {
      name: 'files',
      workerData: this.#start,
      resourceLimits: LIMITS,
      ...QUIET,
    })
    const ended = () => {
      if (this.#thread === thread) this.#thread = null
    }
    // A task that it had fails with the reason.
    return thread.on('error', ended).on('exit', ended)
  }

  #end(): void {
    void this.#thread?.terminate()
    this.#thread = null
  }
}

type Tell = (done: number, of: number) => void

function outcomeOf(thread: Worker, task: FileTask, tell: Tell): Promise<FileOutcome> {
  return new Promise((done, failed) => {
    const ended = () => failed(new Error('The thread for files ended before its task was done.'))
    const hear = (message: FileOutcome | FileProgress) => {
      if ('of' in message) return tell(message.done, message.of)
      thread.off('error', failed).off('exit', ended).off('message', hear)
      done(message)
    }
    thread.once('error', failed).once('exit', ended).on('message', hear)
    thread.postMessage(task)
  })
}
