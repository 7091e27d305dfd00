import { isoOf, Problem } from '@tildebase/nouns'
import { unauthorized } from '../../doors/app.ts'
import type { HttpResponse } from '../../doors/http.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import type { Settings } from '../../host/settings/settings.ts'
import type { TenantHost } from '../../host/tenant-host.ts'
import { log, report } from '../log.ts'
import type { AdminTask } from '../operator/admin-tasks.ts'
import { addStats, type Stats } from '../watch/stats.ts'
import type { Gate } from './gate.ts'
import type { HostCalls, ToWorker } from './messages.ts'
import { TenantWorker } from './tenant-worker.ts'

const STOP_MS = 10_000

/** What the threads of tenants call in the thread of the host. */
interface PoolPorts {
  readonly book: (slug: string, at: number | null) => void
  readonly onQuarantine?: (slug: string, until: number) => void
  /** By default a tenant of this pool is read, `book` is all there is to an alarm, and there is no mailbox. */
  readonly host?: HostCalls
  readonly gate?: Gate | undefined
}

/** The tenants, spread over worker threads: each is in exactly one, found by its slug. */
export class WorkerPool implements TenantHost<AdminTask, Stats> {
  readonly #workers: readonly TenantWorker[]
  readonly #quarantine = new Quarantine(Date.now)
  readonly #onQuarantine: (slug: string, until: number) => void
  #baseUrl = ''

  constructor(settings: Settings, { book, onQuarantine, host, gate }: PoolPorts) {
    this.#onQuarantine = onQuarantine ?? (() => {})
    this.#workers = Array.from(
      { length: settings.workers },
      (_, i) =>
        new TenantWorker({
          name: `tenants-${i}`,
          start: () => ({ settings, baseUrl: this.#baseUrl }),
          patience: settings.workerTimeout,
          book,
          died: (slug) => this.#died(slug),
          isQuarantined: (slug) => this.#quarantine.has(slug),
          host: host ?? { readOther: (call) => this.handle(call), setAlarm: book, claimAddresses: () => [] },
          gate,
        }),
    )
  }

  /** Starts the workers; done when all of them take calls. */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#workers.map((worker) => worker.start()))
    } catch (reason) {
      await this.close()
      throw reason
    }
  }

  /** Sends {base_url} to the workers, once the host listens. */
  begin(baseUrl: string): void {
    this.#baseUrl = baseUrl
    for (const worker of this.#workers) worker.begin(baseUrl)
  }

  handle(call: TenantCall): Promise<HttpResponse> {
    const { slug, sender } = call
    // A sender without a key learns nothing; it is refused without the tenant.
    if (sender.kind === 'anonymous' && this.#quarantine.has(slug)) throw unauthorized()
    this.#quarantine.refuse(slug)
    return this.#of(slug).handle(call)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    this.#quarantine.refuse(slug)
    return this.#of(slug).verify(slug, secret)
  }

  async wake(slug: string): Promise<void> {
    this.#quarantine.refuse(slug)
    return this.#of(slug).call('wake', [slug])
  }

  async task(slug: string, task: AdminTask): Promise<unknown> {
    // Deleting needs no open tenant.
    if (task.do === 'delete') this.#quarantine.release(slug)
    this.#quarantine.refuse(slug)
    return this.#of(slug).call('task', [slug, task])
  }

  /** Does something with the file of a tenant in its thread, for a host whose tenants come and go. */
  async manage(slug: string, what: 'restTenant' | 'closeTenant' | 'dropTenant'): Promise<void> {
    await this.#of(slug).call(what, [slug])
  }

  /** Sends a message to the thread of a tenant, or to all threads. */
  tell(message: ToWorker, slug?: string): void {
    for (const worker of slug === undefined ? this.#workers : [this.#of(slug)]) worker.tell(message)
  }

  isQuarantined(slug: string): boolean {
    return this.#quarantine.has(slug)
  }

  /** Takes a tenant out of quarantine and does what is due in it; false when it was not in there. */
  release(slug: string): boolean {
    const was = this.#quarantine.release(slug)
    if (was) this.#wakeReleased(slug)
    return was
  }

  /** Ends every stream and starts nothing new. A thread that is down has nothing to end. */
  async rest(): Promise<void> {
    await Promise.allSettled(this.#workers.map((worker) => worker.call('rest', [])))
  }

  /** The numbers of all threads that are up. */
  async stats(): Promise<Stats> {
    const parts = await Promise.allSettled(this.#workers.map((worker) => worker.call<Stats>('stats', [])))
    const stats = addStats(parts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
    return { ...stats, quarantined: this.#quarantine.size }
  }

  /** Closes all tenants. A thread that says nothing for `ms` is ended. */
  async close(ms = STOP_MS): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(ms)))
  }

  #died(slug: string): boolean {
    const until = this.#quarantine.died(slug)
    if (until === null) return false
    log('error', 'A tenant ended its worker twice within a minute and is quarantined', {
      tenant: slug,
      until: isoOf(until),
    })
    this.#onQuarantine(slug, until)
    setTimeout(() => this.#wakeReleased(slug), QUARANTINE).unref()
    return true
  }

  #wakeReleased(slug: string): void {
    this.wake(slug).catch((reason) => report(reason, `wake ${slug}`))
  }

  #of(slug: string): TenantWorker {
    return this.#workers[numberOf(slug) % this.#workers.length]!
  }
}

/** FNV-1a: slugs that differ in a letter are in different workers as often as chance has it. */
function numberOf(slug: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < slug.length; i++) hash = Math.imul(hash ^ slug.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** So many deaths of its thread within so long a time take a tenant out, for so long. */
const MOST_DEATHS = 2
const WINDOW = MINUTE
const QUARANTINE = 10 * MINUTE

/** The tenants that ended their thread again and again, each alone out of service for a while. */
export class Quarantine {
  readonly #now: () => number
  readonly #deaths = new Map<string, number[]>()
  readonly #until = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** How many tenants are in quarantine. */
  get size(): number {
    return [...this.#until.keys()].filter((slug) => this.has(slug)).length
  }

  /** Records that the thread ended while it worked on this tenant. Returns the end of a quarantine that begins now. */
  died(slug: string): number | null {
    const now = this.#now()
    this.#forget(now)
    const deaths = [...(this.#deaths.get(slug) ?? []), now]
    this.#deaths.set(slug, deaths)
    if (deaths.length < MOST_DEATHS) return null
    this.#deaths.delete(slug)
    this.#until.set(slug, now + QUARANTINE)
    return now + QUARANTINE
  }

  has(slug: string): boolean {
    const until = this.#until.get(slug)
    return until !== undefined && until > this.#now()
  }

  /** Ends the quarantine of a tenant; false when it was in none. */
  release(slug: string): boolean {
    const was = this.has(slug)
    this.#until.delete(slug)
    this.#deaths.delete(slug)
    return was
  }

  /** Throws while the tenant is in quarantine. */
  refuse(slug: string): void {
    if (!this.has(slug)) return
    const retryAfter = Math.ceil((this.#until.get(slug)! - this.#now()) / SECOND)
    throw new Problem(
      'quarantined',
      `The tenant ${slug} stopped its thread twice within a minute and is out of service. The operator can release it.`,
      { retryAfter },
    )
  }

  /** Drops what no longer counts, so that the memory of it stays small. */
  #forget(now: number): void {
    for (const [slug, deaths] of this.#deaths) {
      const counted = deaths.filter((at) => now - at < WINDOW)
      if (counted.length > 0) this.#deaths.set(slug, counted)
      else this.#deaths.delete(slug)
    }
    for (const [slug, until] of this.#until) if (until <= now) this.#until.delete(slug)
  }
}
