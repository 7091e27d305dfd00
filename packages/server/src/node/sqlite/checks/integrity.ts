import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What SQLite itself finds wrong with a file, line by line; one line says `ok` when it finds nothing. */
export const FAULTS = 'PRAGMA integrity_check(20)'

/** Checks a file in a thread of its own. All of it is in the file and nothing in a log, and it does not change meanwhile. */
export async function faultsAside(path: string): Promise<string[]> {
  const thread = new Worker(new URL(import.meta.resolve('#threads/integrity')), { name: 'integrity', workerData: path })
  // It fails with the error of the thread.
  const [lines] = (await once(thread, 'message')) as [string[]]
  return faultsIn(lines)
}

/** The lines without that of a file which is as it should be. */
export function faultsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== 'ok')
}
