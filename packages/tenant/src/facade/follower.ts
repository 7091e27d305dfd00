import type { Engine } from '../engine/engine.ts'
import { sliceOf } from '../engine/turns.ts'
import { demand, demandUnlimited, type Grant } from '../grant/grant.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { changesAfter, type Patterns } from '../services/events/changes.ts'
import { eventFrame } from '../services/events/frame.ts'
import { LiveList, type LiveListOptions } from '../services/events/live-list.ts'
import { Tail } from '../services/events/tail.ts'
import type { TenantServices } from './create-services.ts'

const MOST_ROWS = 100

/** What a live answer sends next: a bounded piece, or nothing until the log moves on. */
export interface LiveSource {
  read(grant: Grant): string | Uint8Array | Promise<string>
  /** Whether there is more to read before the log moves on. Without it, only another read tells. */
  isBehind?(): boolean
}

/** The log as a grant sees it, while it continues. */
export class Follower {
  #grant: Grant
  readonly #engine: Engine
  readonly #services: TenantServices

  constructor(services: TenantServices, grant: Grant) {
    this.#services = services
    this.#engine = services.transactor.engine
    this.#grant = grant
  }

  /** The rights by now, or null: the key has ended, or the tenant is about to be closed. */
  grant(): Grant | null {
    if (this.#engine.scheduler.isResting) return null
    const { keys, people } = this.#services
    const grant = this.#grant.credential === undefined ? keys.renew(this.#grant) : people.renew(this.#grant)
    if (grant !== null) this.#grant = grant
    return grant
  }

  /** Calls `move` whenever the log has moved on, and when the tenant is to be closed. Returns how to stop that. */
  onMove(move: () => void): () => void {
    return this.#services.feed.follow(move)
  }

  /**
   * The change stream from a seq on, with `context` as the `$context` of its entities. A slow reader is fed from the log, in
   * pieces: nothing piles up for it.
   */
  changes(patterns: Patterns, after: number, context: string): LiveSource {
    demandUnlimited(this.#grant)
    const { feed } = this.#services
    const engine = this.#engine
    const source = { slug: engine.slug, context }
    return new Tail(engine, feed, `changes ${JSON.stringify([patterns, context])}`, after, (position, grant) => {
      const recent = feed.recent(position)?.slice(0, MOST_ROWS)
      const isOver = sliceOf(engine.ports)
      if (!recent) {
        const read = changesAfter(engine, grant, patterns, position, MOST_ROWS, isOver)
        return { text: read.rows.map((row) => eventFrame(row, source)).join(''), position: read.position }
      }
      const { show, byName } = visibilityOf(engine, grant, patterns)
      let text = ''
      for (const row of recent) {
        const shown = show(row)
        // An event that is shown whole is written as text once for all followers.
        if (shown !== null) text += shown === row ? feed.frame(row, source) : eventFrame(shown, source)
        if (!byName && isOver()) return { text, position: row.seq }
      }
      return { text, position: recent.at(-1)!.seq }
    })
  }

  /** A list that stays current. */
  list(options: LiveListOptions): LiveSource {
    // Refused now: once a stream has begun, its status is sent.
    demand(this.#grant, 'read', options.noun)
    demandUnlimited(this.#grant)
    return new LiveList(this.#engine, this.#services.feed, options)
  }
}
