/** What a client asked for and what came of it. `at` and `until` are moments of the world. */
export interface Operation {
  readonly slug: string
  readonly write: number | null
  readonly at: number
  until: number | null
  /** What the answer showed: all writes, in their order. Null when there was no answer, or a refusal. */
  seen: readonly number[] | null
  /** The node that was asked, when that matters. */
  readonly via?: number | undefined
}

/**
 * Judges a history against the log as it is in the end. A tenant is a list that only grows, and every answer shows all
 * of it. So a history is linearizable when every answer is a beginning of the log, and no answer is shorter than what
 * an operation that had ended before it began has shown or written. Returns what is wrong, or null.
 */
export function judge(operations: readonly Operation[], logs: ReadonlyMap<string, readonly number[]>): string | null {
  for (const [slug, log] of logs) {
    if (new Set(log).size !== log.length) return `${slug}: a write is in the log twice`
    const own = operations.filter((operation) => operation.slug === slug)
    const answered = own.filter(({ seen }) => seen !== null)
    for (const { seen, write } of answered) {
      if (seen!.some((one, i) => log[i] !== one)) return `${slug}: an answer showed what is not in the log`
      if (write !== null && seen!.at(-1) !== write && !seen!.includes(write))
        return `${slug}: a write did not see itself`
    }
    const fault = outOfOrder(answered, log)
    if (fault !== null) return `${slug}: ${fault}`
  }
  return null
}

/** Walks through beginnings and ends in their order, with the longest list that is known to all. */
function outOfOrder(answered: readonly Operation[], log: readonly number[]): string | null {
  const moments = answered
    .flatMap((operation) => [
      { time: operation.at, isEnd: false, operation },
      { time: operation.until!, isEnd: true, operation },
    ])
    // What ends at the moment at which another begins counts as at the same time.
    .sort((a, b) => a.time - b.time || Number(a.isEnd) - Number(b.isEnd))
  const floors = new Map<Operation, number>()
  let floor = 0
  for (const { isEnd, operation } of moments) {
    // A write takes effect at its own place; what came after it in the same answer was there as well.
    const length = operation.write === null ? operation.seen!.length : log.indexOf(operation.write) + 1
    if (!isEnd) floors.set(operation, floor)
    else {
      if (length < floors.get(operation)!) return 'an answer was older than one before it'
      floor = Math.max(floor, length)
    }
  }
  return null
}
