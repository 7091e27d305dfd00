import { setTimeout as pause } from 'node:timers/promises'
import { isTemporary, Problem, type Wire } from '@tildebase/client'
import { type ListedTenant, tenantPages } from '../link/tenant-pages.ts'
import type { Archive } from './archive/archive.ts'
import { openArchive } from './open.ts'
import { waitFor } from './patience.ts'
import { type Place, tenantPlace } from './place.ts'
import { shipOnce } from './ship.ts'

export interface AllOptions {
  readonly wire: Wire
  /** Has a part for each tenant. */
  readonly place: Place
  /** How long a write may wait until it is saved, in milliseconds. */
  readonly interval: number
  /** Called when events of a tenant have been saved. */
  readonly saved: (tenant: string, events: number, archive: Archive) => void
  /** Called when a tenant could not be saved. */
  readonly failed: (tenant: string, reason: Error) => void
}

/** What is known of a tenant since it was last saved. */
interface Seen {
  readonly updatedAt: string | undefined
  /** False while another write may have come within the same moment: then it is asked again. */
  readonly isSettled: boolean
  readonly round: number
}

const PAGE = 1_000
const AT_ONCE = 4
/** Archives that are kept open: opening one reads its last segment. */
const MOST_OPEN = 64
/** On a host that does not say when a tenant was written to, all of them are asked. */
const PAUSE_WITHOUT_TIMES = 60_000
/** A file that was last written to so long ago has had no other write in that moment; the time of an answer is in seconds. */
const SETTLED_MS = 2_000

/** The backups of all tenants of a service, in one process. Its memory does not grow with what they hold. */
export class AllBackups {
  readonly #options: AllOptions
  readonly #seen = new Map<string, Seen>()
  /** In the order of their last use. */
  readonly #open = new Map<string, Archive>()
  #round = 0

  constructor(options: AllOptions) {
    this.#options = options
  }

  /** Saves what is new in every tenant; the number of tenants, and of those that failed. */
  async runOnce(signal?: AbortSignal): Promise<{ readonly tenants: number; readonly failed: number; pause: number }> {
    const begun = performance.now()
    let tenants = 0
    let failed = 0
    let busy = 0
    let hasTimes = true
    this.#round++
    for await (const { results, date } of tenantPages(this.#options.wire, PAGE)) {
      tenants += results.length
      hasTimes &&= results.every(({ updatedAt }) => updatedAt !== undefined)
      const shipping = performance.now()
      const changed = results.filter((row) => !row.restoring && this.#isChanged(row))
      for (let at = 0; at < changed.length && !signal?.aborted; at += AT_ONCE) {
        const done = await Promise.all(changed.slice(at, at + AT_ONCE).map((row) => this.#ship(row, date)))
        failed += done.filter((isSaved) => !isSaved).length
      }
      busy += performance.now() - shipping
      if (signal?.aborted) break
    }
    for (const [slug, { round }] of this.#seen) if (round < this.#round) this.#seen.delete(slug)
    const looking = performance.now() - begun - busy
    // Half of the interval has room for the round itself. Looking takes half of the time at most.
    const rest = Math.max(this.#options.interval / 2 - (performance.now() - begun), looking, 0)
    return { tenants, failed, pause: hasTimes ? rest : PAUSE_WITHOUT_TIMES }
  }

  /** Continues until it is stopped. New tenants are included. */
  async follow(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        const round = await this.runOnce(signal)
        failures = 0
        await pause(round.pause, null, { signal }).catch(() => {})
      } catch (reason) {
        if (!isTemporary(reason)) throw reason
        this.#options.failed('', reason as Error)
        await waitFor(failures++, signal)
      }
    }
  }

  async close(): Promise<void> {
    for (const archive of this.#open.values()) await archive.close()
    this.#open.clear()
  }

  #isChanged({ tenant, updatedAt }: ListedTenant): boolean {
    const seen = this.#seen.get(tenant)
    if (seen) this.#seen.set(tenant, { ...seen, round: this.#round })
    return seen === undefined || updatedAt === undefined || seen.updatedAt !== updatedAt || !seen.isSettled
  }

  async #ship({ tenant, updatedAt }: ListedTenant, date: number | null): Promise<boolean> {
    const { wire, saved, failed } = this.#options
    try {
      const archive = await this.#archiveOf(tenant)
      const events = await shipOnce(wire, `/operator/tenants/${encodeURIComponent(tenant)}/log`, archive)
      const isSettled = date !== null && updatedAt !== undefined && date - Date.parse(updatedAt) > SETTLED_MS
      this.#seen.set(tenant, { updatedAt, isSettled, round: this.#round })
      if (events > 0) saved(tenant, events, archive)
      return true
    } catch (reason) {
      // Deleted a moment ago.
      if (reason instanceof Problem && reason.about.status === 404) return true
      // Its folder may be ahead of what is known of it here.
      await this.#open.get(tenant)?.close()
      this.#open.delete(tenant)
      // A permanent failure is tried again when the tenant has changed.
      if (isTemporary(reason)) this.#seen.delete(tenant)
      else this.#seen.set(tenant, { updatedAt, isSettled: true, round: this.#round })
      failed(tenant, reason as Error)
      return false
    }
  }

  async #archiveOf(tenant: string): Promise<Archive> {
    const known = this.#open.get(tenant)
    this.#open.delete(tenant)
    const archive = known ?? (await openArchive(tenantPlace(this.#options.place, tenant), tenant))
    this.#open.set(tenant, archive)
    // The last ones are in use.
    for (const [slug, oldest] of this.#open) {
      if (this.#open.size <= MOST_OPEN) break
      this.#open.delete(slug)
      await oldest.close()
    }
    return archive
  }
}
