const MONTHS = 12

/** The ends of the twelve months up to a time, oldest first; the last of them is the time itself. */
export function monthEnds(at: number): number[] {
  const now = new Date(at)
  return Array.from({ length: MONTHS }, (_, index) => {
    const behind = MONTHS - 1 - index
    if (behind === 0) return at
    // The last millisecond before the next month begins.
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - behind + 1, 1) - 1
  })
}
