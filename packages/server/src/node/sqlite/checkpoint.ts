import { fdatasync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { PageSums } from './checks/page-sums.ts'
import type { LogPages } from './checks/wal.ts'

/** What the other thread is given. */
export interface CheckpointTask {
  readonly path: string
  readonly sums: { readonly pageSize: number; readonly crcs: Uint32Array } | null
}

const FEW_BYTES = 8 * 1_048_576

/** Brings the write-ahead log of a file to the disk, next to this thread. */
export async function syncLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, 'r+')
  try {
    await promisify(fdatasync)(log.fd)
  } finally {
    await log.close()
  }
}

/**
 * Copies a long write-ahead log into its database in another thread: closing the file would hold up this one. The checksums
 * of the pages, if they are kept, follow.
 */
export async function copyLog(path: string, sums: PageSums | null): Promise<void> {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size <= FEW_BYTES) return
  await new Promise<void>((done, failed) => {
    const thread = new Worker(new URL(import.meta.resolve('#threads/checkpoint')), {
      name: 'checkpoint',
      workerData: { path, sums: sums && { pageSize: sums.pageSize, crcs: sums.crcs } } satisfies CheckpointTask,
    })
    thread.once('message', (copied: LogPages | null) => copied && sums?.copied(copied))
    // The thread holds the file until it has ended.
    let failure: Error | null = null
    thread.once('error', (reason) => {
      failure = reason as Error
    })
    thread.once('exit', () => (failure ? failed(failure) : done()))
  })
}
