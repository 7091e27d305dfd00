import { FairQueue } from './fair-queue.ts'

/** A call that the thread has not answered. */
interface Pending {
  /** The tenant that its answer tells of, or null. */
  readonly about: string | null
  /** The tenant whose turn it is, until the call gives its place back. */
  tenant: string | null
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** The calls to a thread: those of tenants that wait for their turn, and those that wait for their answers. */
export class PendingCalls {
  readonly #calls = new Map<number, Pending>()
  readonly #queue = new FairQueue()
  #last = 0

  get size(): number {
    return this.#calls.size
  }

  /** The id of the call that was sent last. */
  get last(): number {
    return this.#last
  }

  has(id: number): boolean {
    return this.#calls.has(id)
  }

  /** The tenant that the answer to a call tells of, or null. */
  about(id: number): string | null {
    return this.#calls.get(id)?.about ?? null
  }

  /** Sends a call with a new id; its answer is the result. */
  add<T>(about: string | null, tenant: string | null, send: (id: number) => void): Promise<T> {
    const id = ++this.#last
    send(id)
    return new Promise((done, failed) => this.#calls.set(id, { about, tenant, done, failed }))
  }

  /** Begins a call when it is the turn of its tenant. */
  inTurn<T>(slug: string, begin: () => Promise<T>): Promise<T> {
    return new Promise((done, failed) => {
      const start = () => {
        const before = this.#last
        begin().then(done, failed)
        // What did not reach the thread has no place there.
        if (this.#last === before) queueMicrotask(() => this.#queue.leave(slug))
      }
      this.#queue.add(slug, { start, cancel: failed })
    })
  }

  /** A call gives its place in the thread back, once. */
  leave(id: number, ms: number): void {
    const pending = this.#calls.get(id)
    if (!pending || pending.tenant === null) return
    const { tenant } = pending
    pending.tenant = null
    this.#queue.charge(tenant, ms)
    this.#queue.leave(tenant)
  }

  answer(id: number, value: unknown): void {
    this.#settle(id)?.done(value as never)
  }

  fail(id: number, reason: unknown): void {
    this.#settle(id)?.failed(reason)
  }

  /** Fails all of them: the thread has ended. */
  failAll(reason: () => unknown): void {
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const { failed } of calls) failed(reason())
    this.#queue.clear(reason())
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#calls.get(id)
    this.#calls.delete(id)
    return pending
  }
}
