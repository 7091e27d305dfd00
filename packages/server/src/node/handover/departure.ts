import { setTimeout as pause } from 'node:timers/promises'
import type { Tenants } from '../../doors/gateway.ts'
import type { AdminTask } from '../operator/admin-tasks.ts'
import { type Forward, replacing } from './forward.ts'

/** The tenants of this process, as a departure closes them. */
export interface OpenTenants extends Tenants {
  openSlugs(): string[]
  isOpen(slug: string): boolean
  /** Closes a tenant that nothing uses; whether it is closed. */
  closeIdle(slug: string): Promise<boolean>
  /** Closes a tenant, whatever uses it. */
  closeNow(slug: string): Promise<void>
  runTask(slug: string, task: AdminTask): Promise<unknown>
  /** Ends every stream and starts nothing new. */
  rest(): Promise<void>
}

export interface DepartureOptions {
  readonly tenants: OpenTenants
  /** How many requests to a tenant are in progress here, and other work that needs its file. */
  readonly underWay: (slug: string) => number
}

const LOOK_MS = 10
/** How long a request may continue while its tenant is asked for elsewhere. */
const PATIENCE_MS = 10_000
/** How long a request may continue in any case. */
const LONGEST_MS = 600_000

/**
 * Hands the tenants over to another process, one by one. A tenant that is open here stays until its last request has ended;
 * requests to all others go to the other process, which opens a tenant when it is closed here.
 */
export class Departure {
  readonly #options: DepartureOptions
  #forward: Forward | null = null
  #released: (slug: string) => void = () => {}
  /** Tenants that are not used here any more. */
  readonly #gone = new Set<string>()
  /** Tenants that the other process waits for, and since when. */
  readonly #wanted = new Map<string, number>()
  /** Tasks of the operator in progress. */
  readonly #tasks = new Map<string, number>()

  constructor(options: DepartureOptions) {
    this.#options = options
  }

  /** Closes all tenants, each as soon as it can be; `released` is called for those that were asked for. */
  async run(forward: Forward, released: (slug: string) => void): Promise<void> {
    const { tenants } = this.#options
    this.#forward = forward
    this.#released = released
    const end = performance.now() + LONGEST_MS
    // Streams and long polls end, and nothing new begins: tenants become free.
    const resting = tenants.rest()
    for (;;) {
      for (const slug of tenants.openSlugs()) await this.#closeIfFree(slug, performance.now() > end)
      for (const slug of this.#wanted.keys()) if (this.#isFree(slug)) this.#release(slug)
      if (tenants.openSlugs().length === 0 && this.#tasks.size === 0 && this.#wanted.size === 0) break
      await pause(LOOK_MS)
    }
    await resting
  }

  /** The other process asks for a tenant. */
  want(slug: string): void {
    if (this.#isFree(slug)) this.#release(slug)
    else if (!this.#wanted.has(slug)) this.#wanted.set(slug, performance.now())
  }

  /** The same tenants, until they are handed over. */
  guard(): Pick<OpenTenants, 'answer' | 'verify' | 'runTask'> {
    const { tenants } = this.#options
    return {
      answer: (slug, request, target, sender, requestId) => {
        if (this.#forward === null || this.#staysWith(slug))
          return tenants.answer(slug, request, target, sender, requestId)
        return this.#forward(request)
      },
      // The other process tests the key of a request that is passed on.
      verify: (slug, secret) => {
        const isHere = this.#forward === null || tenants.isOpen(slug) || this.#options.underWay(slug) > 0
        return isHere && !this.#gone.has(slug) ? tenants.verify(slug, secret) : Promise.resolve(true)
      },
      runTask: async (slug, task) => {
        if (this.#gone.has(slug)) throw replacing()
        this.#tasks.set(slug, (this.#tasks.get(slug) ?? 0) + 1)
        try {
          return await tenants.runTask(slug, task)
        } finally {
          const left = this.#tasks.get(slug)! - 1
          if (left > 0) this.#tasks.set(slug, left)
          else this.#tasks.delete(slug)
        }
      },
    }
  }

  /** Whether a request that was in progress before is still answered here. */
  #staysWith(slug: string): boolean {
    if (this.#gone.has(slug)) return false
    // The request itself is in progress, too.
    if (this.#options.tenants.isOpen(slug) || this.#options.underWay(slug) > 1) return true
    this.#gone.add(slug)
    return false
  }

  #isFree(slug: string): boolean {
    const isOpen = this.#options.tenants.isOpen(slug)
    return !isOpen && (this.#gone.has(slug) || (this.#options.underWay(slug) === 0 && !this.#tasks.has(slug)))
  }

  async #closeIfFree(slug: string, isOver: boolean): Promise<void> {
    const { tenants, underWay } = this.#options
    const wantedAt = this.#wanted.get(slug)
    if (isOver || (wantedAt !== undefined && performance.now() - wantedAt > PATIENCE_MS)) {
      this.#gone.add(slug)
      return tenants.closeNow(slug).catch(() => {})
    }
    const isUsed = !this.#gone.has(slug) && (underWay(slug) > 0 || this.#tasks.has(slug))
    // What still runs in the background ends soon, since the tenant rests. A thread that is replaced is asked again.
    if (!isUsed && (await tenants.closeIdle(slug).catch(() => false))) this.#gone.add(slug)
  }

  #release(slug: string): void {
    this.#gone.add(slug)
    this.#wanted.delete(slug)
    this.#released(slug)
  }
}
