import type { NodeRow, ReplicatedLog } from './replicated-log.ts'
import type { Time } from './time.ts'

export interface MembershipOptions {
  readonly log: ReplicatedLog
  readonly time: Time
  readonly node: { readonly name: string; readonly url: string; readonly layout: number; readonly version: string }
  /** How long a node counts as alive after a sign of life, in milliseconds. */
  readonly lease: number
  readonly newSession: () => string
  /** Whether a node of this cluster wrote a row. Others are not used: the log does not say who wrote it. */
  readonly isGenuine: (node: NodeRow) => boolean
  /** The lease was renewed, or the nodes have changed. */
  readonly renewed: () => void
  /** This session was declared dead: nothing is owned any more. */
  readonly expired: () => void
  readonly report: (reason: unknown, doing: string) => void
}

/** A node trusts its lease for a part of it: the clocks of two machines may run at speeds that differ by a tenth. */
const TRUSTED = 0.8
const BEATS = 4
/** The wall clock of an owner may be used up to so long after its last sign of life. */
const CLOCK_AHEAD = 3

/**
 * Keeps this node alive in the log, and declares others dead. Time is only compared with itself: a node is dead when
 * its counter has not moved for a whole lease of ours while we could reach the log, and in as many looks as that takes.
 * The looks are counted because a machine that is too slow for us is too slow for others on it as well.
 */
export class Membership {
  readonly #options: MembershipOptions
  session: string
  nodes: readonly NodeRow[] = []
  /** The last wall-clock time that this node may give out. */
  promised = 0
  #trustedUntil = Number.NEGATIVE_INFINITY
  #wallAtBeat = 0
  readonly #seen = new Map<string, { beat: number; at: number; looks: number }>()
  #reported: ReadonlySet<string> = new Set()
  #reached = false
  #ended = false

  constructor(options: MembershipOptions) {
    this.#options = options
    this.session = options.newSession()
  }

  /** Whether no other node can own the tenants of this node at this moment. */
  get isTrusted(): boolean {
    const { time, lease } = this.#options
    const now = time.elapsed()
    if (now >= this.#trustedUntil) return false
    // The monotonic clock stops while a machine sleeps. The others do not wait for it, so the wall clock counts as well.
    return time.wall() - this.#wallAtBeat < lease * TRUSTED
  }

  get me(): NodeRow | undefined {
    return this.nodes.find(({ session }) => session === this.session)
  }

  nodeOf(session: string | null): NodeRow | undefined {
    return session === null ? undefined : this.nodes.find((node) => node.session === session)
  }

  /** Joins the cluster. */
  async join(): Promise<void> {
    const { log, time, node, lease } = this.#options
    const promised = time.wall() + CLOCK_AHEAD * lease
    await log.join({ ...node, session: this.session }, promised)
    if (!(await this.beat())) throw new Error('This node was declared dead while it joined.')
  }

  /** Sends signs of life until it leaves. */
  async run(): Promise<void> {
    const { time, lease, report } = this.#options
    while (!this.#ended) {
      await time.sleep(lease / BEATS)
      if (this.#ended) return
      try {
        // A session that has just joined shows itself at once.
        if (!(await this.beat())) await this.beat()
      } catch (reason) {
        this.#reached = false
        report(reason, 'renew the lease')
      }
    }
  }

  /** One sign of life. False when this session was dead: it is another one from now on. */
  async beat(): Promise<boolean> {
    const { log, time, lease } = this.#options
    const { session } = this
    const sent = time.elapsed()
    const wall = time.wall()
    const promised = wall + CLOCK_AHEAD * lease
    const nodes = await log.beat(session, promised)
    if (this.#ended || session !== this.session) return true
    if (nodes === null) {
      await this.#rejoin()
      return false
    }
    this.promised = promised
    this.#wallAtBeat = wall
    this.#trustedUntil = sent + lease * TRUSTED
    this.nodes = this.#genuine(nodes)
    await this.#expireSilent(nodes)
    this.#reached = true
    this.#options.renewed()
    return true
  }

  /** True once this session has ended: what changes among the nodes is not known here any more. */
  get hasLeft(): boolean {
    return this.#ended
  }

  /** Ends the session: others may claim what it owns. */
  async leave(): Promise<void> {
    this.#ended = true
    this.#trustedUntil = Number.NEGATIVE_INFINITY
    await this.#options.log.leave(this.session)
  }

  /** Stops without a word, as a crash does. */
  stop(): void {
    this.#ended = true
  }

  async #rejoin(): Promise<void> {
    const { log, time, node, lease, newSession, expired } = this.#options
    this.#trustedUntil = Number.NEGATIVE_INFINITY
    this.session = newSession()
    this.nodes = []
    expired()
    await log.join({ ...node, session: this.session }, time.wall() + CLOCK_AHEAD * lease)
  }

  /** The nodes that may be used. Each of the others is reported once. */
  #genuine(nodes: readonly NodeRow[]): readonly NodeRow[] {
    const { isGenuine, report } = this.#options
    const strange = nodes.filter((node) => !isGenuine(node))
    for (const { session, name, url } of strange)
      if (!this.#reported.has(`${session} ${url}`))
        report(
          new Error('Its row in the log is not signed with the secret key of the cluster.'),
          `use ${name} at ${url}`,
        )
    this.#reported = new Set(strange.map(({ session, url }) => `${session} ${url}`))
    return nodes.filter((node) => !strange.includes(node))
  }

  /** Declares nodes dead that have not moved for a lease. After an outage of the log all of them have a lease again. */
  async #expireSilent(nodes: readonly NodeRow[]): Promise<void> {
    const { log, time, lease } = this.#options
    const now = time.elapsed()
    if (!this.#reached) this.#seen.clear()
    const silent: NodeRow[] = []
    for (const node of nodes) {
      const known = this.#seen.get(node.session)
      if (known?.beat !== node.beat) this.#seen.set(node.session, { beat: node.beat, at: now, looks: 0 })
      else if (++known.looks >= BEATS && now - known.at >= lease && node.session !== this.session) silent.push(node)
    }
    for (const { session, beat } of silent) {
      if (!(await log.expire(session, beat))) continue
      this.#seen.delete(session)
      this.nodes = this.nodes.filter((node) => node.session !== session)
    }
  }
}
