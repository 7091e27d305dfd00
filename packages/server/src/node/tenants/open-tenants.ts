import type { TenantFiles } from '../sqlite/files.ts'
import { IdleCaches } from './idle-caches.ts'
import { type OpenOptions, type OpenTenant, openTenantFile } from './open-tenant.ts'
import { WakeTimers } from './wake-timers.ts'

export interface OpenTenantsOptions extends OpenOptions {
  readonly files: TenantFiles
  /** How many tenants are kept open; the one unused for longest is closed first. */
  readonly mostOpen: number
  /** Books when a tenant that is being closed is to be woken again. */
  readonly book: (slug: string, at: number | null) => void | Promise<void>
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

  constructor(options: OpenTenantsOptions, uses: Uses) {
    this.#options = options
    this.#uses = uses
    this.#wakes = new WakeTimers(uses.wake)
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

  /** A tenant, opened if necessary, and created if it has no file. */
  use(slug: string): OpenTenant {
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
    const { files } = this.#options
    if (!files.has(slug)) files.begin(slug)
    const path = files.pathOf(slug)
    files.beginUse(slug)
    const entry = this.openFile(slug, path, undefined, true)
    this.#open.set(slug, entry)
    this.#newest = entry
    this.#caches.used(entry)
    this.#uses.opened(slug, entry)
    this.#options.opened?.(slug)
    this.#closeUnused()
    // Nothing is due where nothing was written: a first write does not wait for a question to each job.
    const due = entry.tenant.exists ? entry.tenant.due() : null
    if (due !== null) this.#wakes.book(slug, due)
    return entry
  }

  /** Opens a file that is used for something else, or an empty tenant in `:memory:`. */
  openFile(
    slug: string,
    path: string,
    wakeAt = (at: number) => void (this.#open.has(slug) && this.#wakes.book(slug, at)),
    deferred = false,
  ): OpenTenant {
    const cacheKiB = Math.max(LEAST_CACHE, Math.min(MOST_CACHE, Math.floor(CACHES / (this.#open.size + 1))))
    return openTenantFile(this.#options, slug, path, cacheKiB, wakeAt, deferred)
  }

  /** Closes a tenant, so that its file is whole and alone. */
  close(slug: string): void {
    const entry = this.#open.get(slug)
    if (!entry) return
    this.#open.delete(slug)
    this.#wakes.cancel(slug)
    this.#caches.forget(entry)
    let isWhole = true
    try {
      entry.tenant.flush()
      void this.#options.book(slug, entry.tenant.due(true))
    } catch (reason) {
      // A damaged file cannot tell what is due; the others are to be closed all the same.
      this.#uses.report(reason, `close ${slug}`)
      isWhole = false
    } finally {
      entry.close()
    }
    if (isWhole) this.#options.files.endUse(slug)
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
    for (const [slug, entry] of this.#open) {
      if (this.#open.size <= this.#options.mostOpen) return
      // The newest was opened for a request that is about to use it.
      if (entry !== this.#newest && entry.isIdle()) this.close(slug)
    }
  }
}
