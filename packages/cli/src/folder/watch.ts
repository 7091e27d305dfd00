import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Calls `change` with the name of a file after each change below a folder. Returns how to stop it. */
export function watchFolder(folder: string, change: (file: string) => void): () => void {
  // One watcher for each folder: a recursive one of Node loses files on Linux that an editor replaces by a new file.
  const watchers = new Map<string, FSWatcher>()
  const follow = () => {
    const found = new Map(foldersBelow(folder).map((path) => [keyOf(path), path]))
    for (const [key, watcher] of watchers) {
      if (found.has(key)) continue
      watcher.close()
      watchers.delete(key)
    }
    const added = [...found].filter(([key]) => key !== null && !watchers.has(key))
    for (const [key, path] of added) {
      const watcher = watched(path)
      if (watcher) watchers.set(key!, watcher)
    }
    // A folder that was made in one of these before its watcher began is found by looking again.
    if (added.length > 0) follow()
  }
  // On Windows a watcher reports the removal of its folder as an error.
  const watched = (path: string) => ifThere(() => watch(path, hear).on('error', () => {}))
  const hear = (_: string, file: string | null) => {
    follow()
    change(file ?? '')
  }
  follow()
  return () => {
    for (const watcher of watchers.values()) watcher.close()
  }
}

/** A folder that was removed and made again is another one. Null for one that is not there any more. */
function keyOf(path: string): string | null {
  return ifThere(() => `${statSync(path).ino} ${path}`)
}

function foldersBelow(folder: string): string[] {
  const entries = ifThere(() => readdirSync(folder, { withFileTypes: true }))
  if (entries === null) return []
  const inner = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
  return [folder, ...inner.flatMap(foldersBelow)]
}

/** Folders come and go while they are looked at. */
function ifThere<T>(look: () => T): T | null {
  try {
    return look()
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw reason
  }
}
