import type { Sender } from '../../app.ts'
import type { Tenants } from '../../gateway.ts'
import type { HttpRequest, HttpResponse } from '../../http.ts'
import type { RequestTarget } from '../../target.ts'
import type { AdminTask } from '../admin-tasks.ts'
import type { Settings } from '../config.ts'
import { addStats, type Stats } from '../watch/stats.ts'
import { TenantWorker } from './tenant-worker.ts'

const STOP_MS = 10_000

/** The tenants, spread over worker threads: each lives in exactly one, found by its slug. */
export class WorkerPool implements Tenants {
  readonly #workers: readonly TenantWorker[]
  #baseUrl = ''

  constructor(settings: Settings, book: (slug: string, at: number | null) => void) {
    this.#workers = Array.from(
      { length: settings.workers },
      (_, i) =>
        new TenantWorker({
          name: `tenants-${i}`,
          start: () => ({ settings, baseUrl: this.#baseUrl }),
          patience: settings.workerTimeout,
          book,
        }),
    )
  }

  /** Starts the workers; done when all of them take calls. */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#workers.map((worker) => worker.start()))
    } catch (reason) {
      await this.closeAll()
      throw reason
    }
  }

  /** Tells the workers {base_url}, once the host listens. */
  begin(baseUrl: string): void {
    this.#baseUrl = baseUrl
    for (const worker of this.#workers) worker.begin(baseUrl)
  }

  answer(
    slug: string,
    ask: HttpRequest,
    place: RequestTarget,
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> {
    return this.#of(slug).answer(slug, ask, place, sender, requestId)
  }

  verify(slug: string, secret: string): Promise<boolean> {
    return this.#of(slug).verify(slug, secret)
  }

  wake(slug: string): Promise<void> {
    return this.#of(slug).call('wake', [slug])
  }

  runTask(slug: string, task: AdminTask): Promise<unknown> {
    return this.#of(slug).call('runTask', [slug, task])
  }

  /** Ends every stream and starts nothing new. A thread that is down has nothing to end. */
  async rest(): Promise<void> {
    await Promise.allSettled(this.#workers.map((worker) => worker.call('rest', [])))
  }

  /** The numbers of all threads that are up. */
  async stats(): Promise<Stats> {
    const told = await Promise.allSettled(this.#workers.map((worker) => worker.call<Stats>('stats', [])))
    return addStats(told.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(STOP_MS)))
  }

  #of(slug: string): TenantWorker {
    return this.#workers[numberOf(slug) % this.#workers.length]!
  }
}

/** FNV-1a: slugs that differ in a letter live in different workers as often as chance has it. */
function numberOf(slug: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < slug.length; i++) hash = Math.imul(hash ^ slug.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
