import { closeSync, existsSync, fdatasyncSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Older versions cannot tell how long their log is without copying it. */
export function canDefer(db: DatabaseSync): boolean {
  const [major, minor] = String(db.prepare('SELECT sqlite_version() AS v').get()!.v).split('.').map(Number)
  return major! > 3 || (major === 3 && minor! >= 51)
}

/** What a process that was killed has written and not synced is read from now on, so it has to be on the disk. */
export function syncRest(path: string): void {
  if (!existsSync(`${path}-wal`)) return
  const log = openSync(`${path}-wal`, 'r+')
  try {
    fdatasyncSync(log)
  } finally {
    closeSync(log)
  }
}
