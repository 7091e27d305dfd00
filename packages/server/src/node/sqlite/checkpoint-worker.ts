import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'

/** Copies the write-ahead log of a file into its database, and ends. */
const db = new DatabaseSync(workerData as string)
db.exec('PRAGMA synchronous = FULL')
db.exec('PRAGMA busy_timeout = 2000')
db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
db.close()
