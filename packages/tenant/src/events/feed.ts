import { eventText } from '../event-view.ts'
import type { LogRow } from '../store/log.ts'
import type { Tenant } from '../tenant.ts'

const MOST_KEPT = 1_000
const MOST_LENGTH = 4_194_304

/** What just happened in a tenant, for all who follow it: one listener, each event written as text once. */
export class Feed {
  readonly #tenant: Tenant
  readonly #followers = new Set<() => void>()
  /** The newest events without gaps, kept while somebody follows. */
  #recent: LogRow[] = []
  #length = 0
  readonly #texts = new Map<number, string>()
  #stop: (() => void) | null = null

  constructor(tenant: Tenant) {
    this.#tenant = tenant
  }

  /** Calls `move` whenever the log has moved on, and when the tenant goes to rest; returns how to stop that. */
  follow(move: () => void): () => void {
    this.#stop ??= this.#begin()
    this.#followers.add(move)
    return () => {
      this.#followers.delete(move)
      if (this.#followers.size === 0) this.#end()
    }
  }

  get followers(): number {
    return this.#followers.size
  }

  /** The events after a seq, when all of them are still at hand; else null, and the log has them. */
  recent(after: number): readonly LogRow[] | null {
    if (after >= this.#tenant.head.seq) return []
    const first = this.#recent[0]?.seq
    return first !== undefined && first <= after + 1 ? this.#recent.slice(after + 1 - first) : null
  }

  /** An event as a message of a live stream. */
  frame(row: LogRow): string {
    const known = this.#texts.get(row.seq)
    if (known !== undefined) return known
    const text = frameOf(row, this.#tenant)
    if (row.seq >= (this.#recent[0]?.seq ?? Number.POSITIVE_INFINITY)) this.#texts.set(row.seq, text)
    return text
  }

  #begin(): () => void {
    const stops = [this.#tenant.listen((events) => this.#take(events)), this.#tenant.atRest(() => this.#tell())]
    return () => {
      for (const stop of stops) stop()
    }
  }

  #end(): void {
    this.#stop?.()
    this.#stop = null
    this.#recent = []
    this.#length = 0
    this.#texts.clear()
  }

  #take(events: readonly LogRow[]): void {
    for (const event of events) {
      this.#recent.push(event)
      this.#length += lengthOf(event)
    }
    let over = 0
    for (; this.#recent.length - over > MOST_KEPT || this.#length > MOST_LENGTH; over++) {
      const oldest = this.#recent[over]!
      this.#length -= lengthOf(oldest)
      this.#texts.delete(oldest.seq)
    }
    if (over > 0) this.#recent.splice(0, over)
    this.#tell()
  }

  #tell(): void {
    for (const move of [...this.#followers]) move()
  }
}

const feeds = new WeakMap<Tenant, Feed>()

/** The feed of a tenant. */
export function feedOf(tenant: Tenant): Feed {
  const known = feeds.get(tenant)
  if (known) return known
  const feed = new Feed(tenant)
  feeds.set(tenant, feed)
  return feed
}

/** An event as a message of a live stream. */
export function frameOf(row: LogRow, tenant: Tenant): string {
  return `id: ${row.seq}\nevent: ${row.type}.${row.event}\ndata: ${eventText(row, tenant)}\n\n`
}

function lengthOf({ data, previous }: LogRow): number {
  return 500 + (data?.length ?? 0) + (previous?.length ?? 0)
}
