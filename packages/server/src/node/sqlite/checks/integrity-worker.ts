import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { FAULTS } from './integrity.ts'

/** Sends what SQLite finds wrong with a file, and ends. */
const file = pathToFileURL(workerData as string)
// Without locks: another thread has the file open, and does not change it.
file.searchParams.set('immutable', '1')
const db = new DatabaseSync(file, { readOnly: true })
try {
  parentPort!.postMessage(
    db
      .prepare(FAULTS)
      .all()
      .map(({ integrity_check: line }) => line),
  )
} finally {
  db.close()
}
