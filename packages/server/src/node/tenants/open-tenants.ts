import type { MaybePromise } from '../../doors/http.ts'
import { scheduler } from '../../doors/turns.ts'
import { systemClock } from '../../host/ports.ts'
import type { PageSums } from '../sqlite/checks/page-sums.ts'
import { canDefer } from '../sqlite/disk-sync.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import { type OpenOptions, type OpenTenant, openTenantFile } from './open-tenant.ts'

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
    const { files } = this.#options
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

/** Waits for some work, but not for long. */
export async function inTime(work: Promise<unknown> | undefined, ms: number): Promise<void> {
  await Promise.race([work, new Promise((done) => setTimeout(done, ms).unref())])
}

/** What holds memory that it can do without. */
interface Cached {
  /** Whether nothing uses it. */
  readonly isIdle: () => boolean
  readonly releaseMemory: () => void
}

/** How long something is unused, at least, before its memory is released. */
const IDLE_MS = 30_000

/** Releases the memory of what is no longer used. There is no timer when nothing holds any. */
export class IdleCaches<T extends Cached> {
  /** Used since the last look, and before that. */
  #recent = new Set<T>()
  #older = new Set<T>()
  #timer: NodeJS.Timeout | null = null

  used(one: T): void {
    this.#recent.add(one)
    this.#timer ??= setInterval(() => this.#look(), IDLE_MS).unref()
  }

  forget(one: T): void {
    this.#recent.delete(one)
    this.#older.delete(one)
  }

  #look(): void {
    for (const one of this.#older) {
      if (this.#recent.has(one)) continue
      if (one.isIdle()) one.releaseMemory()
      else this.#recent.add(one)
    }
    this.#older = this.#recent
    this.#recent = new Set()
    if (this.#older.size > 0) return
    clearInterval(this.#timer!)
    this.#timer = null
  }
}

/** A timer holds 24 days at most; a day is soon enough to look again. */
const LONGEST = 86_400_000

type Entry = readonly [at: number, name: string]

/** When each of many is to be woken: the earliest time asked for counts. One timer for all of them, none when idle. */
export class WakeTimers {
  readonly #wake: (name: string) => void
  readonly #clock: () => number
  readonly #times = new Map<string, number>()
  /** A heap by time. An entry whose time is not that of its name any more is passed over when it comes up. */
  readonly #heap: Entry[] = []
  #timer: NodeJS.Timeout | null = null
  #timerAt = Number.POSITIVE_INFINITY

  constructor(wake: (name: string) => void, clock: () => number = Date.now) {
    this.#wake = wake
    this.#clock = clock
  }

  /** Asks for a name to be woken at a time, unless that is to happen earlier anyway. */
  book(name: string, at: number): void {
    const known = this.#times.get(name)
    if (known !== undefined && known <= at) return
    this.#times.set(name, at)
    this.#rise([at, name])
    if (at < this.#timerAt) this.#setTimer()
  }

  /** Leaves a name asleep. */
  cancel(name: string): void {
    if (this.#times.delete(name) && this.#times.size === 0) this.#setTimer()
  }

  #ring(): void {
    const now = this.#clock()
    const due: string[] = []
    for (let next = this.#next(); next !== undefined && next[0] <= now; next = this.#next()) {
      this.#times.delete(next[1])
      due.push(next[1])
    }
    this.#setTimer()
    for (const name of due) this.#wake(name)
  }

  #setTimer(): void {
    const next = this.#next()
    this.#clear()
    if (next === undefined) return
    this.#timerAt = next[0]
    this.#timer = setTimeout(() => this.#ring(), Math.min(Math.max(next[0] - this.#clock(), 0), LONGEST)).unref()
  }

  #clear(): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** The earliest entry that still counts. */
  #next(): Entry | undefined {
    while (this.#heap.length > 0) {
      const [at, name] = this.#heap[0]!
      if (this.#times.get(name) === at) return this.#heap[0]
      this.#sink(this.#heap.pop()!)
    }
    return undefined
  }

  /** Puts a new entry where it belongs, from the bottom. */
  #rise(entry: Entry): void {
    let i = this.#heap.push(entry) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.#heap[parent]![0] <= entry[0]) break
      this.#heap[i] = this.#heap[parent]!
      i = parent
    }
    this.#heap[i] = entry
  }

  /** Puts the last entry in the place of the first, and lets it sink to where it belongs. */
  #sink(entry: Entry): void {
    const heap = this.#heap
    if (heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]![0] < heap[child]![0]) child++
      if (heap[child]![0] >= entry[0]) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = entry
  }
}
