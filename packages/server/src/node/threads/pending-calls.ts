/** A call that the thread has not answered. */
interface Pending {
  readonly id: number
  /** The tenant that its answer tells of, or null. */
  readonly about: string | null
  /** The tenant whose turn it is, until the call gives its place back. */
  tenant: string | null
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}

/** Places for so many calls at first; there are always twice as many as calls. */
const FIRST_PLACES = 1_024

/** The calls to a thread: those of tenants that wait for their turn, and those that wait for their answers. */
export class PendingCalls {
  /**
   * Each call at its id, modulo the number of places. Not a map: that makes a new table as it grows and shrinks, and one
   * that has become old keeps all later tables in memory, with their calls, until all garbage is collected.
   */
  #calls: (Pending | null)[] = Array(FIRST_PLACES).fill(null)
  #size = 0
  readonly #queue = new FairQueue()
  #last = 0

  get size(): number {
    return this.#size
  }

  /** The id of the call that was sent last. */
  get last(): number {
    return this.#last
  }

  has(id: number): boolean {
    return this.#get(id) !== null
  }

  /** The tenant that the answer to a call tells of, or null. */
  about(id: number): string | null {
    return this.#get(id)?.about ?? null
  }

  /** Sends a call with a new id; its answer is the result. */
  add<T>(about: string | null, tenant: string | null, send: (id: number) => void): Promise<T> {
    do this.#last++
    while (this.#calls[this.#last % this.#calls.length] !== null)
    const id = this.#last
    send(id)
    return new Promise((done, failed) => this.#put({ id, about, tenant, done, failed }))
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
    const pending = this.#get(id)
    if (pending === null || pending.tenant === null) return
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
    const calls = this.#calls.filter((call) => call !== null)
    this.#calls.fill(null)
    this.#size = 0
    for (const { failed } of calls) failed(reason())
    this.#queue.clear(reason())
  }

  #get(id: number): Pending | null {
    const call = this.#calls[id % this.#calls.length]!
    return call?.id === id ? call : null
  }

  #put(call: Pending): void {
    this.#calls[call.id % this.#calls.length] = call
    if (++this.#size * 2 > this.#calls.length) this.#grow()
  }

  /** With twice as many places, no two calls come to the same one: their ids differ by no multiple of that number. */
  #grow(): void {
    const calls = this.#calls
    this.#calls = Array(calls.length * 2).fill(null)
    for (const call of calls) if (call !== null) this.#calls[call.id % this.#calls.length] = call
  }

  #settle(id: number): Pending | null {
    const call = this.#get(id)
    if (call === null) return null
    this.#calls[id % this.#calls.length] = null
    this.#size--
    return call
  }
}

/** A call that waits for its turn. */
interface Turn {
  readonly start: () => void
  readonly cancel: (reason: unknown) => void
}

/** The calls of one tenant. */
interface Lane {
  readonly waiting: Turn[]
  /** Calls in the thread. */
  under: number
  /** Milliseconds of the thread, counted from where the others were when this tenant came. */
  used: number
  /** What one call of the tenant takes of the thread, lately. */
  average: number
}

/** How many calls are in the thread at a time, and how many of them are one tenant's: a newcomer finds a place. */
const PLACES = 96
const MOST_PLACES = 64
/**
 * Calls of one tenant that are in the thread may take so long together; at least one is there. Where others share the
 * thread they wait for them, so there are fewer.
 */
const AHEAD_MS = 20
const SHARED_AHEAD_MS = 5
/** How long after a call of another tenant a thread counts as shared. */
const SHARED_FOR_MS = 1_000

/** Lets tenants have their turns in a thread: the next is the one that has used the least of its time. */
export class FairQueue {
  readonly #lanes = new Map<string, Lane>()
  /** Queues with waiting calls. The only one stays, even when it is empty: that happens with each call of a lone tenant. */
  readonly #busy = new Set<Lane>()
  #under = 0
  /** What the tenant that had its turn last has used: where newcomers begin. */
  #now = 0
  /** The tenant that came last, and until when the thread counts as shared. */
  #last: string | null = null
  #sharedUntil = 0

  add(tenant: string, turn: Turn): void {
    if (this.#last !== null && tenant !== this.#last) this.#sharedUntil = performance.now() + SHARED_FOR_MS
    this.#last = tenant
    const lane = this.#laneOf(tenant)
    lane.waiting.push(turn)
    this.#busy.add(lane)
    this.#next()
  }

  /** A call gives its place back: it is answered, or waits for something other than the thread. */
  leave(tenant: string): void {
    const lane = this.#lanes.get(tenant)
    if (!lane) return
    lane.under--
    this.#under--
    this.#forget(tenant, lane)
    this.#next()
  }

  /** Charges a tenant for time of the thread. */
  charge(tenant: string, ms: number): void {
    const lane = this.#lanes.get(tenant)
    if (!lane) return
    lane.used += ms
    lane.average += (ms - lane.average) / 8
  }

  /** Cancels all that waits, and forgets what is in the thread. */
  clear(reason: unknown): void {
    const turns = [...this.#busy].flatMap(({ waiting }) => waiting)
    this.#lanes.clear()
    this.#busy.clear()
    this.#under = 0
    for (const turn of turns) turn.cancel(reason)
  }

  #next(): void {
    const ahead = performance.now() < this.#sharedUntil ? SHARED_AHEAD_MS : AHEAD_MS
    while (this.#under < PLACES) {
      let lane: Lane | null = null
      for (const one of this.#busy) if (hasPlace(one, ahead) && (lane === null || one.used < lane.used)) lane = one
      if (lane === null) return
      const turn = lane.waiting.shift()!
      if (lane.waiting.length === 0 && this.#busy.size > 1) this.#busy.delete(lane)
      this.#now = lane.used
      lane.under++
      this.#under++
      turn.start()
    }
  }

  #laneOf(tenant: string): Lane {
    const known = this.#lanes.get(tenant)
    if (known) return known
    const lane: Lane = { waiting: [], under: 0, used: this.#now, average: 0 }
    this.#lanes.set(tenant, lane)
    return lane
  }

  #forget(tenant: string, { waiting, under }: Lane): void {
    if (waiting.length === 0 && under === 0 && this.#lanes.size > 1) this.#lanes.delete(tenant)
  }
}

function hasPlace({ waiting, under, average }: Lane, ahead: number): boolean {
  return waiting.length > 0 && under < MOST_PLACES && (under === 0 || under * average < ahead)
}
