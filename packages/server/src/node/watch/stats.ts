import type { Outbound } from '@tildebase/tenant/ports'

/** The upper bounds of the histogram of writes per commit. */
export const COMMIT_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** What the tenants of a thread have done, and what they have before them. */
export interface Stats {
  open: number
  waiting: number
  /** Commits by how many writes they held, along `COMMIT_SIZES`; the last counts those above. */
  readonly commits: number[]
  writes: number
  delivered: number
  failed: number
  /** Tenants out of service for having ended their thread. */
  quarantined: number
  /** Writes that take long and have not ended, as the operator sees them. */
  readonly longWrites: readonly object[]
}

export function noStats(): Stats {
  return {
    open: 0,
    waiting: 0,
    commits: new Array(COMMIT_SIZES.length + 1).fill(0),
    writes: 0,
    delivered: 0,
    failed: 0,
    quarantined: 0,
    longWrites: [],
  }
}

export function countCommit(stats: Stats, writes: number): void {
  const bucket = COMMIT_SIZES.findIndex((size) => writes <= size)
  stats.commits[bucket === -1 ? COMMIT_SIZES.length : bucket]!++
  stats.writes += writes
}

/** The same way out, counted. */
export function countedOutbound(outbound: Outbound, stats: Stats): Outbound {
  return {
    ...outbound,
    async send(request) {
      const answer = await outbound.send(request)
      if ('status' in answer && answer.status >= 200 && answer.status < 300) stats.delivered++
      else stats.failed++
      return answer
    },
  }
}

/** The numbers of several threads as one. */
export function addStats(all: readonly Stats[]): Stats {
  return all.reduce(
    (sum, one) => ({
      open: sum.open + one.open,
      waiting: sum.waiting + one.waiting,
      commits: sum.commits.map((count, index) => count + one.commits[index]!),
      writes: sum.writes + one.writes,
      delivered: sum.delivered + one.delivered,
      failed: sum.failed + one.failed,
      quarantined: sum.quarantined + one.quarantined,
      longWrites: [...sum.longWrites, ...one.longWrites],
    }),
    noStats(),
  )
}
