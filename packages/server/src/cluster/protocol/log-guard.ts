import type { Mark, TenantRow } from './replicated-log.ts'

/** A tenant of this node, how it was claimed, and how many of its changes were acknowledged. */
interface Acknowledged {
  readonly slug: string
  readonly owner: string | null
  readonly epoch: number
  readonly head: number
}

export interface LogGuardOptions {
  /** The newest mark that this node knew when it stopped; null when it knew none. */
  readonly newest: Mark | null
  /** Keeps a newer mark for the next start. */
  readonly keep: (mark: Mark) => void
  /** The database has gone back. It is reported once for each state that it went back to. */
  readonly report: (lost: LostWrites) => void
}

/** The database lacks writes that it has acknowledged. */
export class LostWrites extends Error {
  /** The tenants of this node with the changes that are missing. */
  readonly missing: readonly string[]

  constructor(message: string, missing: readonly string[]) {
    super(message)
    this.missing = missing
  }
}

/**
 * Notices that the database has gone back to an earlier state: a failover brought back an old primary, or a standby
 * took over that was behind. A database that has gone back is not used. The lease then ends, so that this node answers
 * 503, until an operator has decided which state is the right one.
 */
export class LogGuard {
  readonly #options: LogGuardOptions
  #newest: Mark | null
  #owned: () => readonly Acknowledged[] = () => []
  #reported = ''
  #hasGoneBack = false

  constructor(options: LogGuardOptions) {
    this.#options = options
    this.#newest = options.newest
  }

  /** From now on the changes of these tenants must be in the log. */
  watch(owned: () => readonly Acknowledged[]): void {
    this.#owned = owned
  }

  /** Whether the database lacks writes, so that nothing has to wait for it. */
  get hasGoneBack(): boolean {
    return this.#hasGoneBack
  }

  /** All up to this mark is durable. */
  acknowledged(mark: Mark): void {
    if (this.#newest !== null && !isBefore(this.#newest, mark)) return
    this.#newest = mark
  }

  /** Writes down the newest mark. */
  save(): void {
    if (this.#newest !== null) this.#options.keep(this.#newest)
  }

  /** Throws when a database that was just connected lacks something. Its mark is null when it has no timelines. */
  async admit(mark: Mark | null, find: (slugs: readonly string[]) => Promise<readonly TenantRow[]>): Promise<void> {
    const missing = await this.#missing(find)
    const isOlder = mark !== null && this.#newest !== null && isBefore(mark, this.#newest)
    this.#hasGoneBack = isOlder || missing.length > 0
    if (this.#hasGoneBack) throw this.#lost(mark, isOlder, missing)
    // Its position may lie before what is durable, so that only the timeline counts.
    if (mark !== null && (this.#newest === null || mark.timeline > this.#newest.timeline))
      this.#newest = { timeline: mark.timeline, position: 0 }
  }

  async #missing(find: (slugs: readonly string[]) => Promise<readonly TenantRow[]>): Promise<readonly string[]> {
    const owned = this.#owned().map(({ slug, owner, epoch, head }) => ({ slug, owner, epoch, head }))
    if (owned.length === 0) return []
    const rows = new Map((await find(owned.map(({ slug }) => slug))).map((row) => [row.slug, row]))
    return owned.flatMap(({ slug, owner, epoch, head }) => {
      const known = rows.get(slug)
      if (known === undefined) return [`${slug} (all)`]
      if (known.head < head) return [`${slug} (${known.head + 1} to ${head})`]
      // Its epochs may have been given again, and other changes may have the numbers of those that are lost.
      const isClaimed = known.epoch > epoch || (known.epoch === epoch && known.owner === owner)
      return isClaimed ? [] : [`${slug} (its claim in epoch ${epoch}, and what came after it)`]
    })
  }

  #lost(mark: Mark | null, isOlder: boolean, missing: readonly string[]): LostWrites {
    const place = isOlder ? ` It is at ${placeOf(mark!)}, and was at ${placeOf(this.#newest!)}.` : ''
    const changes = missing.length === 0 ? '' : ` Missing changes: ${missing.join(', ')}.`
    const lost = new LostWrites(`The database has gone back to an earlier state.${place}${changes}`, missing)
    if (this.#reported !== lost.message) this.#options.report(lost)
    this.#reported = lost.message
    return lost
  }
}

function isBefore(one: Mark, other: Mark): boolean {
  return one.timeline < other.timeline || (one.timeline === other.timeline && one.position < other.position)
}

function placeOf({ timeline, position }: Mark): string {
  return `position ${position} of timeline ${timeline}`
}
