/** Whether SQLite found a file damaged: SQLITE_CORRUPT and SQLITE_NOTADB. */
export function isDamage(reason: unknown): reason is Error {
  return [11, 26].includes(codeOf(reason))
}

/** Whether the disk is full: SQLITE_FULL. */
export function isFull(reason: unknown): boolean {
  return codeOf(reason) === 13
}

function codeOf(reason: unknown): number {
  return ((reason as { errcode?: number }).errcode ?? 0) & 0xff
}
