import type { Ports, TenantOptions } from './engine.ts'

/** Work that is due at a time: deliveries, AFTER hooks, expiries. */
export interface Job {
  /** When it next has something to do, or null. */
  due(): number | null
  run(): Promise<void> | void
  /** Does at once what would be lost with the tenant's memory. */
  leave?(): void
  /** True for work that no sleeping tenant is woken for. */
  readonly light?: boolean
}

/** How long a chore that failed is left alone: a full disk does not get emptier by asking. */
const PAUSE = 5_000

/** What a tenant does by itself: chores at their time, and work under way that is nobody's request. */
export abstract class Scheduler {
  readonly slug: string
  ports: Ports
  readonly options: TenantOptions
  readonly chores: Job[] = []
  /** True once it starts nothing new by itself. */
  isResting = false
  /** True once its database is closed. */
  isClosed = false
  readonly #running = new Set<Job>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #endings = new Set<() => void>()

  constructor(slug: string, ports: Ports, options: TenantOptions) {
    this.slug = slug
    this.ports = ports
    this.options = options
  }

  /** Things under way that are nobody's request: deliveries, AFTER hooks. A tenant with any is not closed. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** Counts something as under way until it has ended; a failure of it is told to the log. */
  during(work: Promise<void>): void {
    const watched = work
      .catch((reason) => this.options.log?.('error', `Work of ${this.slug} failed`, { reason: String(reason) }))
      .then(() => void this.#underWay.delete(watched))
    this.#underWay.add(watched)
  }

  /** Starts nothing new by itself, ends its streams, and waits for what is under way. */
  async rest(): Promise<void> {
    this.isResting = true
    for (const end of this.#endings) end()
    await Promise.all(this.#underWay)
  }

  /** Writes down what is in memory only: the tenant is about to be closed. */
  leave(): void {
    for (const chore of this.chores) chore.leave?.()
  }

  /** Calls `end` when the tenant is to be closed; returns how to take that back. */
  atRest(end: () => void): () => void {
    this.#endings.add(end)
    return () => this.#endings.delete(end)
  }

  /** When the next chore is due, or null. */
  due(asleep = false): number | null {
    const dues = this.chores
      .filter((chore) => !(asleep && chore.light))
      .map((chore) => (this.#running.has(chore) ? null : chore.due()))
      .filter((due) => due !== null)
    return dues.length > 0 ? Math.min(...dues) : null
  }

  /** Does the chores that are due, side by side and none twice at once, and asks to be woken for the next. */
  async wake(): Promise<void> {
    if (this.isResting) return
    const now = this.ports.clock.now()
    const due = this.chores.filter((chore) => !this.#running.has(chore) && (chore.due() ?? now + 1) <= now)
    const done = Promise.all(due.map((chore) => this.#run(chore)))
    // A chore that takes long does not keep the others from their time.
    this.#bookNext(0)
    const fine = await done
    this.#bookNext(fine.includes(false) ? this.ports.clock.now() + PAUSE : 0)
  }

  #bookNext(earliest: number): void {
    const next = this.isClosed ? null : this.due()
    if (next !== null) this.ports.alarm.wakeAt(Math.max(next, earliest))
  }

  async #run(chore: Job): Promise<boolean> {
    this.#running.add(chore)
    try {
      await chore.run()
      return true
    } catch (reason) {
      this.options.log?.('error', `A chore of ${this.slug} failed`, { reason: String(reason) })
      return false
    } finally {
      this.#running.delete(chore)
    }
  }
}
