import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Calls `change` with the name of a file after each change below a folder. Returns how to stop it. */
export function watchFolder(folder: string, change: (file: string) => void): () => void {
  // One watcher for each folder: a recursive one of Node loses files on Linux that an editor replaces by a new file.
  const watchers = new Map<string, FSWatcher>()
  const follow = () => {
    const found = new Map(foldersBelow(folder).map((path) => [`${statSync(path).ino} ${path}`, path]))
    for (const [key, watcher] of watchers) {
      if (found.has(key)) continue
      watcher.close()
      watchers.delete(key)
    }
    for (const [key, path] of found) {
      if (!watchers.has(key)) watchers.set(key, watch(path, hear))
    }
  }
  const hear = (_: string, file: string | null) => {
    follow()
    change(file ?? '')
  }
  follow()
  return () => {
    for (const watcher of watchers.values()) watcher.close()
  }
}

function foldersBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return [
    folder,
    ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ]
}
