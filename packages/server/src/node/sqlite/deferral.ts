import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Older versions cannot tell how long their log is without copying it. */
export function canDefer(db: DatabaseSync): boolean {
  isAble ??= isRecent(String(db.prepare('SELECT sqlite_version() AS v').get()!.v))
  return isAble
}

/** All files of a process are opened by the same SQLite. */
let isAble: boolean | undefined

function isRecent(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major! > 3 || (major === 3 && minor! >= 51)
}

/** What a process that was killed has written and not synced is read from now on, so it has to be on the disk. */
export function syncRest(path: string): void {
  const rest = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (!rest || rest.size === 0) return
  const log = openSync(`${path}-wal`, 'r+')
  try {
    fdatasyncSync(log)
  } finally {
    closeSync(log)
  }
}
