import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkerPool } from '../node/workers/worker-pool.ts'
import type { ReplicaThread } from './files/thread.ts'
import type { Membership } from './protocol/membership.ts'
import type { OwnedTenant } from './protocol/owned-tenant.ts'
import type { Ownership } from './protocol/ownership.ts'
import { ranked } from './protocol/ranking.ts'
import type { ReplicatedLog, TenantRow } from './protocol/replicated-log.ts'
import { takeSnapshot } from './protocol/snapshot.ts'
import type { Time } from './protocol/time.ts'

export interface HousekeepingOptions {
  readonly log: ReplicatedLog
  readonly pool: WorkerPool
  readonly membership: Membership
  readonly ownership: Ownership
  readonly replicas: ReplicaThread
  readonly data: string
  readonly time: Time
  readonly followers: number
  readonly snapshotChanges: number
  readonly snapshotBytes: number
  readonly report: (reason: unknown, doing: string) => void
  /** Lets a node prepare for a tenant. */
  readonly warm: (slug: string, to: string | null) => Promise<void>
  /** A tenant was given to a node. */
  readonly moving: (slug: string, to: string | null) => void
}

/** What is known of a tenant that this node owns, in addition to its head. */
interface Kept {
  pin: string | null
  snapshot: number
  bytes: number
}

const TICK = 1_000
const FULL_EVERY = 10
const AT_ONCE = 8
const PAGE = 5_000
const MOST_ORPHANS = 1_000

/** The background work of a node: takes over orphans, moves tenants to their nodes, creates snapshots, follows. */
export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #kept = new Map<string, Kept>()
  #followed = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #ticks = 0
  #known = ''
  #ended = false
  #snapshots = 0

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

  get snapshots(): number {
    return this.#snapshots
  }

  claimed({ slug, pin, snapshot }: TenantRow): void {
    this.#kept.set(slug, { pin, snapshot, bytes: 0 })
  }

  lost(slug: string): void {
    this.#kept.delete(slug)
  }

  committed(slug: string, bytes: number): void {
    const kept = this.#kept.get(slug)
    if (kept) kept.bytes += bytes
  }

  /** Moves a tenant to a node by its name, and keeps it there; null lets it be where it belongs. */
  async move(slug: string, node: string | null): Promise<boolean> {
    const { log, ownership, membership } = this.#options
    if (!(await log.setPin(slug, node))) return false
    const kept = this.#kept.get(slug)
    if (kept) kept.pin = node
    const to = ranked(slug, node, membership.nodes)[0]
    if (!to || to.session === membership.session) return true
    // It may have been given to this node a moment ago.
    return (await ownership.own(slug)) === null || this.#release(slug, to.session)
  }

  /** Moves all tenants away; done when none is left, or when no node takes them. */
  async releaseAll(): Promise<void> {
    const { ownership, membership } = this.#options
    const others = membership.nodes.filter(({ session, draining }) => session !== membership.session && !draining)
    await inParallel(ownership.all, async ({ slug }) => {
      const to = ranked(slug, this.#kept.get(slug)?.pin ?? null, others)[0]
      await this.#release(slug, to?.session ?? null)
    })
  }

  async #tick(): Promise<void> {
    const nodes = this.#options.membership.nodes.map(({ session, draining }) => `${session} ${draining}`).join()
    const isFull = this.#ticks++ % FULL_EVERY === 0 || nodes !== this.#known
    this.#known = nodes
    await this.#try('take over tenants', () => this.#adoptOrphans())
    if (isFull) await this.#try('move tenants', () => this.#rebalance())
    if (isFull) await this.#try('follow tenants', () => this.#follow())
    await this.#try('make snapshots', () => this.#makeSnapshots())
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
    const mine = rows.filter(({ slug, pin }) => ranked(slug, pin, membership.nodes)[0]?.session === membership.session)
    await inParallel(mine, async ({ slug }) => void (await ownership.own(slug)))
  }

  /** Moves tenants to the nodes that they belong to: one has joined, or this one is being emptied. */
  async #rebalance(): Promise<void> {
    const { ownership, membership } = this.#options
    const misplaced = ownership.all.flatMap(({ slug }) => {
      const to = ranked(slug, this.#kept.get(slug)?.pin ?? null, membership.nodes)[0]
      return to && to.session !== membership.session ? [{ slug, to: to.session }] : []
    })
    await inParallel(misplaced, async ({ slug, to }) => void (await this.#release(slug, to)))
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
      for (const { slug, pin, owner } of rows) {
        const next = ranked(slug, pin, membership.nodes).filter(({ session }) => session !== owner)
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

  async #makeSnapshots(): Promise<void> {
    const { ownership, snapshotChanges, snapshotBytes } = this.#options
    for (const tenant of ownership.all) {
      const kept = this.#kept.get(tenant.slug)
      if (!kept || this.#ended) continue
      const isDue =
        tenant.erased > kept.snapshot || kept.bytes >= snapshotBytes || tenant.head - kept.snapshot >= snapshotChanges
      if (isDue) await this.#try(`make a snapshot of ${tenant.slug}`, () => this.#snapshot(tenant, kept))
    }
  }

  /** Copies the file next to the requests, waits until the log has all that is in the copy, and saves it. */
  async #snapshot(tenant: OwnedTenant, kept: Kept): Promise<void> {
    const { pool, replicas, data, time } = this.#options
    const { slug } = tenant
    const path = join(data, 'scratch', `${slug}.snapshot`)
    try {
      await pool.runTask(slug, { do: 'copy', path, asOf: null })
      const at = await replicas.stateOfFile(path)
      const n = await takeSnapshot(tenant, { at, save: () => replicas.saveSnapshot(slug, path) }, time)
      if (n === null) return
      kept.snapshot = n
      kept.bytes = 0
      this.#snapshots++
    } finally {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    }
  }
}

async function inParallel<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const take = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}
