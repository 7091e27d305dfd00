import { Worker } from 'node:worker_threads'
import type { ClusterSettings } from '../../host/settings/cluster-settings.ts'
import { QUIET } from '../../node/threads/tenant-worker.ts'
import type { ReplicaState } from '../protocol/replica.ts'
import type { TenantRow } from '../protocol/replicated-log.ts'
import type { FileAnswer, FileCall, FileMethod } from './worker.ts'

interface Waiting {
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** The thread that works on replicas and snapshots, so that no request waits for it. */
export class ReplicaThread {
  readonly #start: { readonly cluster: ClusterSettings; readonly data: string }
  #thread: Worker | null = null
  readonly #calls = new Map<number, Waiting>()
  #last = 0
  /** How many changes the followed tenants are behind, and how many tenants these are. */
  lag = 0
  followed = 0

  constructor(cluster: ClusterSettings, data: string) {
    this.#start = { cluster, data }
  }

  bring(row: TenantRow): Promise<ReplicaState | null> {
    return this.#call('bring', [row])
  }

  publish(row: TenantRow, at: ReplicaState): Promise<void> {
    return this.#call('publish', [row, at])
  }

  withdraw(slug: string): Promise<void> {
    return this.#call('withdraw', [slug])
  }

  stateOfFile(path: string): Promise<ReplicaState> {
    return this.#call('stateOfFile', [path])
  }

  saveSnapshot(slug: string, path: string): Promise<boolean> {
    return this.#call('saveSnapshot', [slug, path])
  }

  create(slug: string, session: string, from: string, scratch: string): Promise<TenantRow | null> {
    return this.#call('create', [slug, session, from, scratch])
  }

  follow(slugs: readonly string[], dropped: readonly string[]): Promise<void> {
    return this.#call('follow', [slugs, dropped])
  }

  async close(): Promise<void> {
    if (!this.#thread) return
    await this.#call('close', []).catch(() => {})
    await this.#thread?.terminate()
  }

  #call<T>(method: FileMethod, args: readonly unknown[]): Promise<T> {
    this.#thread ??= this.#started()
    const id = ++this.#last
    this.#thread.postMessage({ id, method, args } as FileCall)
    return new Promise<T>((done, failed) => this.#calls.set(id, { done: done as Waiting['done'], failed }))
  }

  #started(): Worker {
    const thread = new Worker(new URL(import.meta.resolve('#threads/replicas')), {
      name: 'replicas',
      workerData: this.#start,
      ...QUIET,
    })
    thread.on('message', (answer: FileAnswer) => {
      if ('lag' in answer) {
        this.lag = answer.lag
        this.followed = answer.followed
        return
      }
      const waiting = this.#calls.get(answer.id)
      this.#calls.delete(answer.id)
      if ('error' in answer) waiting?.failed(new Error(answer.error))
      else waiting?.done(answer.value as never)
    })
    thread.once('error', () => {})
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null
      const calls = [...this.#calls.values()]
      this.#calls.clear()
      for (const { failed } of calls) failed(new Error('The thread of replicas ended.'))
    })
    return thread
  }
}
