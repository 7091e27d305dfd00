import { closeSync, linkSync, renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** How many connections a file has in this thread, and the handles that are to be closed after them. */
interface OpenFile {
  connections: number
  readonly handles: number[]
}

const files = new Map<string, OpenFile>()

/** A connection to a file was opened. */
export function connectionOpened(path: string): void {
  const file = files.get(path)
  if (file) file.connections++
  else files.set(path, { connections: 1, handles: [] })
}

export function connectionClosed(path: string): void {
  const file = files.get(path)
  if (!file || --file.connections > 0) return
  files.delete(path)
  for (const handle of file.handles) closeSync(handle)
}

/**
 * Closes a handle of a database when no connection is open. POSIX ends all locks of a process on a file with any handle
 * of it: SQLite would lose the lock that keeps other processes out.
 */
export function closeHandle(path: string, handle: number): void {
  const file = files.get(path)
  if (file) file.handles.push(handle)
  else closeSync(handle)
}

/** Closes a database and keeps its log, which SQLite removes when it has copied it: the copy may not be on the disk. */
export function closeWithLog(db: DatabaseSync, path: string): void {
  const [log, kept] = [`${path}-wal`, `${path}-kept`]
  try {
    linkSync(log, kept)
  } catch {
    // There is no log, or no second name on this disk.
    db.close()
    return
  }
  db.close()
  // It does nothing where both are still there.
  renameSync(kept, log)
  rmSync(kept, { force: true })
}
