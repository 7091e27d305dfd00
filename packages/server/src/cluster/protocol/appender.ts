import type { OwnedTenant } from './owned-tenant.ts'
import type { Append, Change, ReplicatedLog } from './replicated-log.ts'
import type { Time } from './time.ts'

export interface AppenderOptions {
  readonly log: Pick<ReplicatedLog, 'append' | 'settle'>
  readonly time: Time
  /** The log refused a change: another node owns the tenant. */
  readonly fenced: (tenant: OwnedTenant) => void
  readonly report: (reason: unknown, doing: string) => void
}

/** What one call of the log takes. */
const MOST_BYTES = 4_194_304
const MOST_CHANGES = 512
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 1_000

/**
 * Brings commits of all tenants of this node into the log, one call at a time: what comes during a call goes with the
 * next. A call whose outcome is unknown is settled: the log says which head the tenant has, and that is ours or not.
 */
export class Appender {
  readonly #options: AppenderOptions
  readonly #dirty = new Set<OwnedTenant>()
  /** Tenants of which an append failed or was refused: their heads must be asked for. */
  readonly #unsettled = new Set<OwnedTenant>()
  #running = false
  #ended = false

  constructor(options: AppenderOptions) {
    this.#options = options
  }

  /** The tenant has changes that are not in the log. */
  add(tenant: OwnedTenant): void {
    this.#dirty.add(tenant)
    if (this.#running || this.#ended) return
    this.#running = true
    // What is committed in the same turn goes along.
    queueMicrotask(() => void this.#run())
  }

  /** Appends nothing more. */
  stop(): void {
    this.#ended = true
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE
    try {
      while (!this.#ended && (this.#dirty.size > 0 || this.#unsettled.size > 0)) {
        try {
          if (this.#unsettled.size > 0) await this.#settle()
          await this.#append()
          pause = FIRST_PAUSE
        } catch (reason) {
          this.#options.report(reason, 'append to the log')
          await this.#options.time.sleep(pause)
          pause = Math.min(pause * 2, LONGEST_PAUSE)
        }
      }
    } finally {
      this.#running = false
    }
  }

  async #append(): Promise<void> {
    const batch = this.#batch()
    if (batch.length === 0) return
    const appends = batch.map(({ append }) => append)
    let taken: ReadonlySet<string>
    try {
      taken = await this.#options.log.append(appends)
    } catch (reason) {
      for (const { tenant } of batch) this.#unsettled.add(tenant)
      throw reason
    }
    for (const { tenant, append } of batch) {
      if (tenant.isLost) continue
      if (taken.has(tenant.slug)) tenant.appended(append.changes.at(-1)!.n)
      else this.#unsettled.add(tenant)
      if (tenant.pending.length > 0) this.#dirty.add(tenant)
    }
  }

  /** Asks for the heads: an append that failed may have been done, and one that was refused may be an echo of it. */
  async #settle(): Promise<void> {
    const tenants = [...this.#unsettled].filter(({ isLost }) => !isLost)
    const heads = await this.#options.log.settle(tenants)
    for (const tenant of [...this.#unsettled]) {
      if (tenant.isLost) this.#unsettled.delete(tenant)
      else if (tenants.includes(tenant)) this.#decide(tenant, heads.get(tenant.slug))
    }
  }

  #decide(tenant: OwnedTenant, head: number | undefined): void {
    this.#unsettled.delete(tenant)
    const isOurs = head !== undefined && head >= tenant.head && head <= tenant.committed
    if (!isOurs) return void this.#options.fenced(tenant)
    if (head > tenant.head) tenant.appended(head)
    if (tenant.pending.length > 0) this.#dirty.add(tenant)
  }

  #batch(): { tenant: OwnedTenant; append: Append }[] {
    const batch: { tenant: OwnedTenant; append: Append }[] = []
    let room = MOST_BYTES
    let places = MOST_CHANGES
    for (const tenant of this.#dirty) {
      if (room <= 0 || places <= 0) break
      // One whose last append is not settled waits for that.
      if (this.#unsettled.has(tenant)) continue
      this.#dirty.delete(tenant)
      if (tenant.isLost || tenant.pending.length === 0) continue
      const changes: Change[] = []
      for (const change of tenant.pending) {
        if (changes.length > 0 && (room < change.bytes.length || places <= 0)) break
        changes.push(change)
        room -= change.bytes.length
        places--
      }
      batch.push({ tenant, append: { slug: tenant.slug, epoch: tenant.epoch, head: tenant.head, changes } })
    }
    return batch
  }
}
