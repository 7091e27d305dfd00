import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { ReplicatedLog, TenantRow } from '../protocol/replicated-log.ts'

/** How long an answer of the log is believed. A node that is asked wrongly passes the request on. */
export const KEPT_MS = 1_000
const MOST_KEPT = 100_000

interface Known {
  readonly row: TenantRow | null
  readonly until: number
}

/** Which tenants there are, and who owns them, as the log said a moment ago. Questions of one turn go together. */
export class Directory {
  readonly #log: Pick<ReplicatedLog, 'find'>
  readonly #known = new BoundedMap<string, Known>(MOST_KEPT)
  #next: { slugs: Set<string>; rows: Promise<ReadonlyMap<string, TenantRow>> } | null = null

  constructor(log: Pick<ReplicatedLog, 'find'>) {
    this.#log = log
  }

  async find(slug: string): Promise<TenantRow | null> {
    const known = this.#known.get(slug)
    if (known && known.until > performance.now()) return known.row
    const row = (await this.#ask(slug)).get(slug) ?? null
    this.#known.set(slug, { row, until: performance.now() + KEPT_MS })
    return row
  }

  /** False when the log has just said that there is no such tenant. */
  mayExist(slug: string): boolean {
    const known = this.#known.get(slug)
    return !known || known.row !== null || known.until <= performance.now()
  }

  forget(slug: string): void {
    this.#known.delete(slug)
  }

  #ask(slug: string): Promise<ReadonlyMap<string, TenantRow>> {
    if (this.#next) {
      this.#next.slugs.add(slug)
      return this.#next.rows
    }
    const slugs = new Set([slug])
    const rows = Promise.resolve().then(async () => {
      this.#next = null
      return new Map((await this.#log.find([...slugs])).map((row) => [row.slug, row]))
    })
    this.#next = { slugs, rows }
    return rows
  }
}
