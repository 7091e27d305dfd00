import type { Change } from './replicated-log.ts'

/** An answer that waits for the commits that it has seen. */
interface Held {
  readonly seen: number
  readonly since: number
  readonly release: () => void
  readonly refuse: () => void
}

/**
 * A tenant that this node owns: what it has committed to its file, and how much of that is in the log. Nothing that was
 * computed from a commit leaves the node before the commit is in the log and the node is certain that it still owns the
 * tenant. So no client sees data that can still be lost, or old data after another node has taken over.
 */
export class OwnedTenant {
  readonly slug: string
  /** The session that has claimed it. */
  readonly owner: string | null
  readonly epoch: number
  /** How many changes are in the log. */
  head: number
  /** The epoch of the last change that is in the log. */
  headEpoch: number
  /** Committed to the file, and not known to be in the log. */
  pending: Change[] = []
  pendingBytes = 0
  /** The last change that erased something. */
  erased: number
  #committed: number
  #lost = false
  #held: Held[] = []
  readonly #isTrusted: () => boolean
  readonly #now: () => number

  constructor(
    at: {
      readonly slug: string
      readonly owner: string | null
      readonly epoch: number
      readonly head: number
      readonly headEpoch: number
      readonly erased: number
    },
    isTrusted: () => boolean,
    now: () => number,
  ) {
    this.slug = at.slug
    this.owner = at.owner
    this.epoch = at.epoch
    this.head = at.head
    this.headEpoch = at.headEpoch
    this.erased = at.erased
    this.#committed = at.head
    this.#isTrusted = isTrusted
    this.#now = now
  }

  /** True once another node owns it. */
  get isLost(): boolean {
    return this.#lost
  }

  get committed(): number {
    return this.#committed
  }

  get held(): number {
    return this.#held.length
  }

  /** Since when the first answer waits; null when none does. */
  get heldSince(): number | null {
    return this.#held[0]?.since ?? null
  }

  /** The file has one commit more. False when it does not follow the last one: the file is then unusable. */
  commit(n: number, bytes: Uint8Array, erases: boolean): boolean {
    if (this.#lost || n !== this.#committed + 1) return false
    const before = this.pending.at(-1)?.epoch ?? this.headEpoch
    this.pending.push({ n, epoch: this.epoch, before, bytes, erases })
    this.pendingBytes += bytes.length
    this.#committed = n
    if (erases) this.erased = n
    return true
  }

  /** Lets an answer out, now or when all that it can have seen is in the log. Answers keep their order. */
  pass(release: () => void, refuse: () => void): void {
    if (this.#lost) return void refuse()
    if (this.#held.length === 0 && this.#committed === this.head && this.#isTrusted()) return void release()
    this.#held.push({ seen: this.#committed, since: this.#now(), release, refuse })
  }

  /** The log has all changes up to a number. */
  appended(n: number): void {
    while (this.pending.length > 0 && this.pending[0]!.n <= n) {
      const change = this.pending.shift()!
      this.pendingBytes -= change.bytes.length
      this.headEpoch = change.epoch
    }
    this.head = n
    this.drain()
  }

  /** Lets out what may go: the head has moved, or the lease was renewed. */
  drain(): void {
    if (this.#lost || this.#held.length === 0 || !this.#isTrusted()) return
    let count = 0
    while (count < this.#held.length && this.#held[count]!.seen <= this.head) count++
    for (const { release } of this.#held.splice(0, count)) release()
  }

  /** Refuses answers that have waited since before a time. Whether their writes happened is not known. */
  refuseBefore(time: number): void {
    let count = 0
    while (count < this.#held.length && this.#held[count]!.since < time) count++
    for (const { refuse } of this.#held.splice(0, count)) refuse()
  }

  /** Another node owns the tenant, or the file is unusable: no answers are sent any more. */
  lose(): void {
    if (this.#lost) return
    this.#lost = true
    this.pending = []
    this.pendingBytes = 0
    for (const { refuse } of this.#held.splice(0)) refuse()
  }
}
