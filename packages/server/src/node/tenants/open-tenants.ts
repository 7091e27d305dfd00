import { Problem } from '@tildebase/nouns'
import type { MaybePromise } from '../../doors/http.ts'
import { scheduler } from '../../doors/turns.ts'
import { systemClock } from '../../host/ports.ts'
import type { PageSums } from '../sqlite/checks/page-sums.ts'
import { canDefer } from '../sqlite/disk-sync.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import { IdleCaches } from './idle-caches.ts'
import { type OpenOptions, type OpenTenant, openTenantFile } from './open-tenant.ts'
import { WakeTimers } from './wake-timers.ts'

export interface OpenTenantsOptions extends OpenOptions {
  readonly files: TenantFiles
  /** How many tenants are kept open, and twice as many for a moment; the one unused for longest is closed first. */
  readonly mostOpen: number
  /** Books when a tenant that is being closed is to be woken again. */
  readonly book: (slug: string, at: number | null) => void | Promise<void>
  /** The same, before it is closed; settles when that is on the disk. */
  readonly setAlarm?: ((slug: string, at: number | null) => MaybePromise<void>) | undefined
  /** Called when a tenant has been opened. */
  readonly opened?: ((slug: string) => void) | undefined
}

/** What the open tenants tell those who use them. */
interface Uses {
  /** Something is due in a tenant. */
  readonly wake: (slug: string) => void
  /** A tenant was opened from its file. */
  readonly opened: (slug: string, entry: OpenTenant) => void
  readonly report: (reason: unknown, about: string) => void
}

/** KiB of memory for the files of open tenants: the more there are, the less a new one keeps. */
const CACHES = 262_144
const MOST_CACHE = 16_384
const LEAST_CACHE = 2_000
/** Closing copies the log of a file and waits for the disk. It begins when no tenant was opened for so long. */
const CALM_MS = 1_000

/** The tenants of this thread that are open: by file, and closed when others need the room. */
export class OpenTenants {
  readonly #options: OpenTenantsOptions
  readonly #uses: Uses
  /** In the order of their last use. */
  readonly #open = new Map<string, OpenTenant>()
  /** The one used last. */
  #newest: OpenTenant | null = null
  readonly #wakes: WakeTimers
  readonly #caches = new IdleCaches<OpenTenant>()
  #calm: NodeJS.Timeout | null = null

  constructor(options: OpenTenantsOptions, uses: Uses) {
    this.#options = options
    this.#uses = uses
    this.#wakes = new WakeTimers(uses.wake, () => (options.clock ?? systemClock).now())
  }

  get size(): number {
    return this.#open.size
  }

  get slugs(): string[] {
    return [...this.#open.keys()]
  }

  get all(): OpenTenant[] {
    return [...this.#open.values()]
  }

  has(slug: string): boolean {
    return this.#open.has(slug)
  }

  /** A tenant, if it is open. */
  get(slug: string): OpenTenant | undefined {
    return this.#open.get(slug)
  }

  /** A tenant, opened if necessary, and created if it has no file. One that `isWoken` is asked for what is due by that. */
  use(slug: string, isWoken = false): OpenTenant {
    this.#options.atWork?.(slug)
    const known = this.#open.get(slug)
    if (known) {
      if (known !== this.#newest) {
        this.#open.delete(slug)
        this.#open.set(slug, known)
        this.#newest = known
      }
      this.#caches.used(known)
      return known
    }
    const { files, replication } = this.#options
    if (replication?.isHere(slug) === false) throw elsewhere()
    if (!files.has(slug)) files.begin(slug)
    const path = files.pathOf(slug)
    const sums = files.beginUse(slug, canDefer())
    const entry = this.openFile(slug, path, undefined, true, sums)
    this.#open.set(slug, entry)
    this.#newest = entry
    this.#caches.used(entry)
    this.#uses.opened(slug, entry)
    this.#options.opened?.(slug)
    this.#closeUnused()
    // Nothing is due where nothing was written: a first write does not wait for a question to each job.
    const due = entry.tenant.exists && !isWoken ? entry.tenant.due() : null
    if (due !== null) this.#wakes.book(slug, due)
    return entry
  }

  /** Opens a file that is used for something else, or an empty tenant in `:memory:`. */
  openFile(
    slug: string,
    path: string,
    wakeAt = (at: number) => void (this.#open.has(slug) && this.#wakes.book(slug, at)),
    deferred = false,
    sums: PageSums | null = null,
  ): OpenTenant {
    const cacheKiB = Math.max(LEAST_CACHE, Math.min(MOST_CACHE, Math.floor(CACHES / (this.#open.size + 1))))
    return openTenantFile(this.#options, slug, path, { cacheKiB, deferred, sums }, wakeAt)
  }

  /** Closes a tenant, so that its file is whole and alone. */
  close(slug: string): void {
    const entry = this.#open.get(slug)
    if (!entry) return
    this.#open.delete(slug)
    this.#wakes.cancel(slug)
    this.#caches.forget(entry)
    try {
      entry.tenant.flush()
      void this.#options.book(slug, entry.tenant.due(true))
    } catch (reason) {
      // A file that fails cannot tell what is due: it is asked when it is opened again. The others are closed all the same.
      this.#uses.report(reason, `close ${slug}`)
      void this.#options.book(slug, (this.#options.clock ?? systemClock).now())
    } finally {
      entry.close()
    }
    // Also where SQLite has found damage: the checksum tells of it when the file is opened again.
    this.#options.files.endUse(slug, entry.sums)
  }

  /** Closes all tenants: their logs are copied side by side, as far as that takes no longer than `ms`. */
  async closeAll(ms: number): Promise<void> {
    await inTime(Promise.allSettled(this.all.map((entry) => entry.settle())), ms)
    for (const slug of this.slugs) this.#tryToClose(slug)
  }

  /** A file that fails keeps no other open, and fails no request to another tenant. */
  #tryToClose(slug: string): void {
    try {
      this.close(slug)
    } catch (reason) {
      this.#uses.report(reason, `close ${slug}`)
    }
  }

  /** Closes a tenant and removes its file. */
  discard(slug: string): void {
    const entry = this.#open.get(slug)
    if (!entry) return
    this.#open.delete(slug)
    this.#wakes.cancel(slug)
    this.#caches.forget(entry)
    entry.close()
    this.#options.files.remove(slug)
  }

  #closeUnused(): void {
    if (!this.#isOver) return
    for (let over = this.#open.size - 2 * this.#options.mostOpen; over > 0; over--) this.#closeOldest()
    if (this.#calm) this.#calm.refresh()
    else this.#calm = setTimeout(() => this.#closeWhenCalm(), CALM_MS).unref()
  }

  /** A disk that fails keeps tenants open: they are closed when others are opened next. */
  #closeWhenCalm(): void {
    this.#calm = null
    this.#closeInTurns().catch((reason) => this.#uses.report(reason, 'close unused tenants'))
  }

  async #closeInTurns(): Promise<void> {
    for (const slug of this.slugs) {
      const entry = this.#open.get(slug)
      if (!entry?.isIdle()) continue
      await entry.settle()
      // After a crash, an alarm or a log next to the file wakes a tenant: one of them is always on the disk.
      const due = entry.tenant.due(true)
      await this.#options.setAlarm?.(slug, due)
      await scheduler.later(slug, () => {
        if (this.#isOver && this.#isUnused(entry) && entry.tenant.due(true) === due) this.close(slug)
      })
      if (!this.#isOver || this.#calm !== null) return
    }
  }

  get #isOver(): boolean {
    return this.#open.size > this.#options.mostOpen
  }

  /** The newest was opened for a request that is about to use it. */
  #isUnused(entry: OpenTenant): boolean {
    return entry !== this.#newest && entry.isIdle()
  }

  #closeOldest(): void {
    const oldest = [...this.#open].find(([, entry]) => this.#isUnused(entry))
    if (oldest) this.#tryToClose(oldest[0])
  }
}

/** The problem of a tenant that this node of a cluster does not have, or not any more. */
export function elsewhere(): Problem {
  return new Problem('unavailable', 'Another node has this tenant now. Try again.', { retryAfter: 1 })
}

/** Waits for some work, but not for long. */
export async function inTime(work: Promise<unknown> | undefined, ms: number): Promise<void> {
  await Promise.race([work, new Promise((done) => setTimeout(done, ms).unref())])
}
