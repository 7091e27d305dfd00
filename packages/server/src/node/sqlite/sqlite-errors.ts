/** A copy cannot begin in the middle of a transaction. Node then reports the code of no error at all. */
export function isLocked(reason: unknown): boolean {
  const { errcode } = reason as { errcode?: number }
  return errcode !== undefined && [0, SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff)
}

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
export function isDamage(reason: unknown): reason is Error {
  const code = (reason as { errcode?: number }).errcode ?? 0
  return (code & 0xff) === 11 || (code & 0xff) === 26
}
