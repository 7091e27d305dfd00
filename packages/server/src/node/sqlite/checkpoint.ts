import { fdatasync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'

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

/** Copies a long write-ahead log into its database in another thread: closing the file would hold up this one. */
export async function copyLog(path: string): Promise<void> {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size <= FEW_BYTES) return
  await new Promise<void>((done, failed) => {
    const thread = new Worker(new URL(import.meta.resolve('#threads/checkpoint')), {
      name: 'checkpoint',
      workerData: path,
    })
    thread.once('error', failed).once('exit', () => done())
  })
}
