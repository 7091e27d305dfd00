import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointTask } from './checkpoint.ts'
import { PageSums } from './checks/page-sums.ts'
import { noteCopy } from './checks/sum-file.ts'

/** Copies the write-ahead log of a file into its database, sends the pages that it has changed, and ends. */
const { path, sums } = workerData as CheckpointTask
const db = new DatabaseSync(path)
try {
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA busy_timeout = 2000')
  const { log } = db.prepare('PRAGMA wal_checkpoint(NOOP)').get()!
  const copied = sums && noteCopy(path, new PageSums(sums.pageSize, sums.crcs), Number(log))
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  parentPort!.postMessage(copied?.() ?? null)
} finally {
  db.close()
}
