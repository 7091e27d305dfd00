import { Appender } from './appender.ts'
import type { Membership } from './membership.ts'
import { OwnedTenant } from './owned-tenant.ts'
import type { ReplicaState } from './replica.ts'
import type { ReplicatedLog, TenantRow } from './replicated-log.ts'
import type { Time } from './time.ts'

/** What runs tenants on this node. */
export interface TenantHost {
  /** Brings the replica to the end of the log; null when the log does not have the tenant. */
  bring(row: TenantRow): Promise<ReplicaState | null>
  /** Makes the replica the file of the tenant, if it is where it was brought. From now on it commits in this epoch. */
  open(row: TenantRow, at: ReplicaState): Promise<void>
  /** Finishes running requests and closes the file. Its last commits come before this is done. */
  close(slug: string): Promise<void>
  /** Makes the closed file a replica again. */
  withdraw(slug: string): Promise<void>
  /** Forgets the tenant at once, and removes its file. */
  drop(slug: string): Promise<void>
}

export interface OwnershipOptions {
  readonly log: ReplicatedLog
  readonly time: Time
  readonly host: TenantHost
  readonly membership: Membership
  readonly layout: number
  readonly report: (reason: unknown, doing: string) => void
  readonly claimed?: (row: TenantRow) => void
  readonly lost?: (slug: string) => void
}

const POLL = 5

/** The tenants that this node owns: claims them, carries their commits to the log, and gives them away. */
export class Ownership {
  readonly #options: OwnershipOptions
  readonly #owned = new Map<string, OwnedTenant>()
  readonly #claims = new Map<string, Promise<OwnedTenant | null>>()
  readonly #leaving = new Map<string, Promise<boolean>>()
  readonly #dropping = new Map<string, Promise<void>>()
  /** Tenants whose thread has ended, until the log was asked again. */
  readonly #reopening = new Map<string, OwnedTenant>()
  readonly #appender: Appender
  #claimsNothing = false

  constructor(options: OwnershipOptions) {
    this.#options = options
    const { log, time, report } = options
    this.#appender = new Appender({ log, time, report, fenced: (tenant) => this.#lose(tenant) })
  }

  /** The tenant if this node owns it and takes requests for it: its file is there, and is not about to leave. */
  get(slug: string): OwnedTenant | undefined {
    return this.#leaving.has(slug) || this.#claims.has(slug) ? undefined : this.#owned.get(slug)
  }

  /** The tenant as long as answers of it may leave. */
  gateOf(slug: string): OwnedTenant | undefined {
    return this.#owned.get(slug)
  }

  get all(): readonly OwnedTenant[] {
    return [...this.#owned.values()]
  }

  /** The tenants of this node, with how many of their changes are in the log. */
  get acknowledged(): readonly OwnedTenant[] {
    return [...this.#owned.values(), ...this.#reopening.values()]
  }

  /** Those that take requests. */
  get open(): readonly OwnedTenant[] {
    return this.all.filter(({ slug }) => this.get(slug))
  }

  /** Whether nothing is owned, and nothing is about to be. */
  get isEmpty(): boolean {
    return this.#owned.size === 0 && this.#claims.size === 0
  }

  /** From now on nothing more is claimed: the node is about to stop. */
  claimNothing(): void {
    this.#claimsNothing = true
  }

  /** Done when the tenant is not being given away any more. */
  async leaving(slug: string): Promise<void> {
    await this.#leaving.get(slug)?.catch(() => {})
  }

  /** Owns a tenant, if no node that is alive does. */
  own(slug: string): Promise<OwnedTenant | null> {
    const known = this.get(slug)
    if (known) return Promise.resolve(known)
    const under = this.#claims.get(slug)
    if (under) return under
    if (this.#claimsNothing) return Promise.resolve(null)
    const claim = this.#claim(slug).finally(() => this.#claims.delete(slug))
    this.#claims.set(slug, claim)
    return claim
  }

  /** The file of a tenant has one commit more. */
  committed(slug: string, n: number, bytes: Uint8Array, erases: boolean): void {
    const tenant = this.#owned.get(slug)
    if (!tenant) return
    if (tenant.commit(n, bytes, erases)) this.#appender.add(tenant)
    else this.#lose(tenant)
  }

  /** Gives a tenant to another session, or releases it, when all of it is in the log. */
  release(slug: string, to: string | null): Promise<boolean> {
    const under = this.#leaving.get(slug)
    if (under) return under
    const tenant = this.#owned.get(slug)
    if (!tenant) return Promise.resolve(false)
    const leave = this.#release(tenant, to).finally(() => this.#leaving.delete(slug))
    this.#leaving.set(slug, leave)
    return leave
  }

  /** Forgets a tenant that was removed, or whose file cannot be trusted. */
  forget(slug: string): Promise<void> {
    const tenant = this.#owned.get(slug)
    if (tenant) this.#lose(tenant)
    return this.#dropping.get(slug) ?? Promise.resolve()
  }

  /** Compares the file of a tenant with the log again: its thread has ended. */
  async reopen(slug: string): Promise<void> {
    const tenant = this.#owned.get(slug)
    if (tenant) this.#reopening.set(slug, tenant)
    await this.forget(slug)
    await this.own(slug)
  }

  /** The lease was renewed: answers that waited for it leave. */
  drain(): void {
    for (const tenant of this.#owned.values()) tenant.drain()
  }

  refuseBefore(time: number): void {
    for (const tenant of this.#owned.values()) tenant.refuseBefore(time)
  }

  /** This session was declared dead. */
  loseAll(): void {
    for (const tenant of [...this.#owned.values()]) this.#lose(tenant)
  }

  stop(): void {
    this.#appender.stop()
  }

  async #claim(slug: string): Promise<OwnedTenant | null> {
    const { log, host, membership, layout, time, claimed } = this.#options
    await this.leaving(slug)
    await this.#dropping.get(slug)
    const { session } = membership
    const row = (await log.claim([slug], session, layout))[0]
    this.#reopening.delete(slug)
    if (row === undefined) return null
    const at = await host.bring(row)
    if (at === null) return null
    if (at.n !== row.head) throw new Error(`The replica of ${slug} ends at ${at.n}, the log at ${row.head}.`)
    // A replica may have been brought from a primary that was replaced, which has other changes.
    if ((await log.epochAt(slug, at.n)) !== at.epoch) throw new Error(`The replica of ${slug} has another last change.`)
    const isTrusted = () => membership.session === session && membership.isTrusted
    const tenant = new OwnedTenant({ ...row, headEpoch: at.epoch }, isTrusted, () => time.elapsed())
    this.#owned.set(slug, tenant)
    try {
      await host.open(row, at)
    } catch (reason) {
      this.#lose(tenant)
      throw reason
    }
    if (tenant.isLost) return null
    if (membership.session !== session) {
      this.#lose(tenant)
      return null
    }
    claimed?.(row)
    return tenant
  }

  async #release(tenant: OwnedTenant, to: string | null): Promise<boolean> {
    const { log, host, time } = this.#options
    const { slug, epoch } = tenant
    await host.close(slug)
    while (!tenant.isLost && (tenant.head < tenant.committed || tenant.held > 0)) await time.sleep(POLL)
    if (tenant.isLost) return false
    try {
      if (!(await log.release(slug, epoch, to))) this.#lose(tenant)
    } catch (reason) {
      // It may be another node's by now. All of it is in the log, so nothing is lost with the file.
      this.#lose(tenant)
      throw reason
    }
    if (tenant.isLost) return false
    this.#owned.delete(slug)
    tenant.lose()
    await host.withdraw(slug)
    this.#options.lost?.(slug)
    return true
  }

  #lose(tenant: OwnedTenant): void {
    const { slug } = tenant
    tenant.lose()
    if (this.#owned.get(slug) !== tenant) return
    this.#owned.delete(slug)
    const { host, report, lost } = this.#options
    const dropping = host
      .drop(slug)
      .catch((reason) => report(reason, `drop ${slug}`))
      .finally(() => this.#dropping.delete(slug))
    this.#dropping.set(slug, dropping)
    lost?.(slug)
  }
}
