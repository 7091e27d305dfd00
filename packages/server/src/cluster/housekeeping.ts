import { LAYOUT_VERSION } from '@tildebase/tenant/internal'
import type { LocalNode } from '../node/cluster-host.ts'
import type { ReplicaThread } from './files/thread.ts'
import { inParallel } from './protocol/in-parallel.ts'
import { giveAllAway } from './protocol/leaving.ts'
import type { Membership } from './protocol/membership.ts'
import type { Ownership } from './protocol/ownership.ts'
import { ranked } from './protocol/ranking.ts'
import type { NodeRow, ReplicatedLog, TenantRow } from './protocol/replicated-log.ts'
import type { Time } from './protocol/time.ts'
import type { Snapshots } from './snapshots.ts'

export interface HousekeepingOptions {
  readonly log: ReplicatedLog
  readonly membership: Membership
  readonly ownership: Ownership
  readonly replicas: ReplicaThread
  readonly snapshots: Snapshots
  readonly empty: LocalNode['empty']
  /** How many nodes next to the owner follow each tenant. */
  readonly followers: number
  readonly time: Time
  readonly report: (reason: unknown, doing: string) => void
  /** Lets a node prepare for a tenant. */
  readonly warm: (slug: string, to: string | null) => Promise<void>
  /** A tenant was given to a node. */
  readonly moving: (slug: string, to: string | null) => void
}

const TICK = 1_000
const FULL_EVERY = 10
const PAGE = 5_000
const MOST_ORPHANS = 1_000

/** The background work of a node: takes over orphans, moves tenants to their nodes, creates snapshots, follows. */
export class Housekeeping {
  readonly #options: HousekeepingOptions
  /** The nodes that the operator has chosen for the tenants of this one. */
  readonly #pins = new Map<string, string | null>()
  #followed = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #ticks = 0
  #known = ''
  #ended = false

  constructor(options: HousekeepingOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#tick(), TICK).unref()
  }

  stop(): void {
    this.#ended = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  claimed(row: TenantRow): void {
    this.#pins.set(row.slug, row.pin)
    this.#options.snapshots.claimed(row)
  }

  lost(slug: string): void {
    this.#pins.delete(slug)
    this.#options.snapshots.lost(slug)
  }

  /** Gives a tenant to the node that the operator has chosen, or where it belongs. It may have come a moment ago. */
  async give(slug: string, pin: string | null): Promise<boolean> {
    const { ownership, membership } = this.#options
    if (!(await ownership.own(slug))) return false
    this.#pins.set(slug, pin)
    const to = this.#placeOf(slug, membership.nodes)
    return !to || to.session === membership.session || this.#release(slug, to.session)
  }

  /** Moves all tenants away. False when some had no other node until that moment: they are released. */
  releaseAll(until: number): Promise<boolean> {
    const placeOf = (slug: string, nodes: readonly NodeRow[]) => this.#placeOf(slug, nodes)
    const give = (slug: string, to: string | null) => this.#release(slug, to)
    return giveAllAway({ ...this.#options, placeOf, give }, until)
  }

  async #tick(): Promise<void> {
    const nodes = this.#options.membership.nodes.map(({ session, draining }) => `${session} ${draining}`).join()
    const isFull = this.#ticks++ % FULL_EVERY === 0 || nodes !== this.#known
    this.#known = nodes
    await this.#try('take over tenants', () => this.#adoptOrphans())
    if (isFull) await this.#try('follow tenants', () => this.#follow())
    if (isFull) await this.#try('move tenants', () => this.#rebalance())
    await this.#try('make snapshots', () => this.#makeSnapshots())
    await this.#try('look for new tenants', () => this.#noticeCreated())
    if (!this.#ended) this.start()
  }

  async #try(doing: string, work: () => Promise<void>): Promise<void> {
    try {
      if (!this.#ended && this.#options.membership.isTrusted) await work()
    } catch (reason) {
      this.#options.report(reason, doing)
    }
  }

  /** Takes over tenants with something due whose owner is dead, as far as they belong here. */
  async #adoptOrphans(): Promise<void> {
    const { log, ownership, membership } = this.#options
    if (membership.me?.draining) return
    const rows = await log.orphans(membership.session, MOST_ORPHANS)
    const mine = rows.filter((row) => ranked(row, membership.nodes)[0]?.session === membership.session)
    await inParallel(mine, async ({ slug }) => void (await ownership.own(slug)))
  }

  /** Moves tenants to the nodes that they belong to: one has joined, or this one is being emptied. */
  async #rebalance(): Promise<void> {
    const { ownership, membership } = this.#options
    const misplaced = ownership.all.flatMap(({ slug }) => {
      const to = this.#placeOf(slug, membership.nodes)
      return to && to.session !== membership.session ? [{ slug, to: to.session }] : []
    })
    await inParallel(misplaced, async ({ slug, to }) => void (await this.#release(slug, to)))
  }

  /** The node that a tenant of this one belongs to. Its tables have the layout of this node. */
  #placeOf(slug: string, nodes: readonly NodeRow[]): NodeRow | undefined {
    return ranked({ slug, pin: this.#pins.get(slug) ?? null, layout: LAYOUT_VERSION }, nodes)[0]
  }

  async #release(slug: string, to: string | null): Promise<boolean> {
    const { ownership, warm, moving, report } = this.#options
    try {
      await warm(slug, to)
      const isReleased = await ownership.release(slug, to)
      if (isReleased) moving(slug, to)
      return isReleased
    } catch (reason) {
      report(reason, `release ${slug}`)
      return false
    }
  }

  /** Follows the tenants for which this node comes next after the owner. */
  async #follow(): Promise<void> {
    const { log, membership, replicas, followers } = this.#options
    const followed = new Set<string>()
    for (let after = '', rows: readonly TenantRow[] = []; ; after = rows.at(-1)!.slug) {
      rows = await log.list(after, PAGE)
      for (const row of rows) {
        const { slug, pin, owner } = row
        // The operator may have chosen another node while this one could not be asked.
        if (this.#pins.has(slug)) this.#pins.set(slug, pin)
        const next = ranked(row, membership.nodes).filter(({ session }) => session !== owner)
        if (
          owner !== membership.session &&
          next.slice(0, followers).some(({ session }) => session === membership.session)
        )
          followed.add(slug)
      }
      if (rows.length < PAGE) break
    }
    const dropped = [...this.#followed].filter((slug) => !followed.has(slug) && !this.#options.ownership.gateOf(slug))
    this.#followed = followed
    await replicas.follow([...followed], dropped)
  }

  /** Ends streams of tenants that did not exist, and that were created meanwhile, perhaps on another node. */
  async #noticeCreated(): Promise<void> {
    const { log, empty } = this.#options
    const slugs = empty?.emptySlugs ?? []
    if (slugs.length === 0) return
    for (const { slug } of await log.find(slugs)) empty!.endEmpty(slug)
  }

  async #makeSnapshots(): Promise<void> {
    const { snapshots } = this.#options
    for (const tenant of snapshots.due)
      await this.#try(`make a snapshot of ${tenant.slug}`, () => snapshots.make(tenant))
  }
}
