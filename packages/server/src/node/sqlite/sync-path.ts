import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Brings a file, or the names in a folder, to the disk. Waits for it. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
