import type { ReplicatedLog, TenantRow } from '../protocol/replicated-log.ts'
import type { ReplicaTasks } from './replica-tasks.ts'

export interface FollowerOptions {
  readonly told: (lag: number, followed: number) => void
  readonly report: (reason: unknown, doing: string) => void
}

/** The least time between two looks at the log. Looking takes at most a tenth of the time. */
const SHORTEST = 250
const SHARE = 10

/** Keeps replicas of tenants that other nodes own near the end of the log. */
export class Follower {
  readonly #log: Pick<ReplicatedLog, 'heads'>
  readonly #tasks: Pick<ReplicaTasks, 'bring' | 'discard'>
  readonly #options: FollowerOptions
  #slugs: readonly string[] = []
  readonly #at = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null
  #ended = false

  constructor(
    log: Pick<ReplicatedLog, 'heads'>,
    tasks: Pick<ReplicaTasks, 'bring' | 'discard'>,
    options: FollowerOptions,
  ) {
    this.#log = log
    this.#tasks = tasks
    this.#options = options
  }

  /** Follows these tenants from now on, and removes the replicas of others. */
  async follow(slugs: readonly string[], dropped: readonly string[]): Promise<void> {
    this.#slugs = slugs
    for (const slug of dropped) {
      this.#at.delete(slug)
      await this.#tasks.discard(slug)
    }
    this.#timer ??= setTimeout(() => void this.#look(), 0)
  }

  stop(): void {
    this.#ended = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  async #look(): Promise<void> {
    const begun = performance.now()
    try {
      const rows = this.#slugs.length === 0 ? [] : await this.#log.heads(this.#slugs)
      this.#options.told(
        rows.reduce((sum, row) => sum + Math.max(0, row.head - (this.#at.get(row.slug) ?? 0)), 0),
        rows.length,
      )
      for (const row of rows) if (!this.#ended) await this.#bring(row)
    } catch (reason) {
      this.#options.report(reason, 'read the heads')
    }
    if (this.#ended) return
    this.#timer = setTimeout(() => void this.#look(), Math.max(SHORTEST, SHARE * (performance.now() - begun)))
  }

  async #bring(row: TenantRow): Promise<void> {
    const { slug, head } = row
    if (this.#at.get(slug) === head || !this.#slugs.includes(slug)) return
    try {
      const at = await this.#tasks.bring(row)
      this.#at.set(slug, at?.n ?? 0)
    } catch (reason) {
      this.#at.delete(slug)
      this.#options.report(reason, `follow ${slug}`)
    }
  }
}
