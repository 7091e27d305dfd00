import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { PageSums } from './checks/page-sums.ts'
import { canDefer, type DiskSyncOptions } from './disk-sync.ts'
import { connectionOpened } from './file-handles.ts'
import { QueryClock } from './query-clock.ts'
import { type OnCommit, Recording } from './recording.ts'

export interface SqlOptions {
  /** Keeps to the limits of a Durable Object. */
  readonly limits?: boolean
  /** How much of the file is kept in memory at most. */
  readonly cacheKiB?: number
  /** Called before every statement. */
  readonly onStatement?: () => void
  /** Commits return before they are on the disk: what leaves the service waits for `pending`. */
  readonly deferred?: boolean
  /** How the files of a deferred connection come to the disk, and when its log is copied. */
  readonly disk?: Pick<DiskSyncOptions, 'sync' | 'mostPages'>
  /** Receives the changes of every commit. The file is then a copy of what is kept elsewhere. */
  readonly onCommit?: OnCommit | undefined
  /** The checksums of the pages of the file, kept up to date where it changes. */
  readonly sums?: PageSums | null
  /** What a database in memory begins with. */
  readonly content?: Uint8Array | undefined
}

/** Whether a connection owns its file, shares it with a long transaction, or is that. */
export type Mode = 'alone' | 'shared' | 'long'

/** A file that is open. */
export interface Opened {
  readonly db: DatabaseSync
  readonly statements: Statements
  readonly clock: QueryClock
  /** Records the changes of every commit, where they are kept elsewhere too. */
  readonly recording: Recording | null
  readonly isDeferred: boolean
  /** Whether a process that was killed has left commits in the log. They are read from now on, so they have to be on the disk. */
  readonly hasRest: boolean
}

/** KiB of changed pages that a long transaction keeps: its commit writes them in one step, which holds the thread. */
const MOST_LONG_CACHE = 4_000

/** Opens a file with the settings of every connection. */
export function openFile(path: string, options: SqlOptions, mode: Mode): Opened {
  const { limits = false, cacheKiB = 8_000, onCommit } = options
  const hasRest = path !== ':memory:' && hasLog(path)
  const db = new DatabaseSync(path, limits ? { limits: DURABLE_OBJECT_LIMITS } : {})
  try {
    // Before the settings: it replaces the database that they are about.
    if (options.content) db.deserialize(options.content)
    for (const pragma of mode === 'alone' ? PRAGMAS : SHARED_PRAGMAS) db.exec(pragma)
    db.exec(`PRAGMA cache_size = ${-(mode === 'long' ? Math.min(cacheKiB, MOST_LONG_CACHE) : cacheKiB)}`)
    // What the power takes from this file is elsewhere. The commit of a long transaction is synced next to the thread.
    if (onCommit || mode === 'long') db.exec('PRAGMA synchronous = NORMAL')
    if (mode !== 'alone') db.exec('PRAGMA wal_autocheckpoint = 0')
    const isDeferred = mode === 'alone' && options.deferred === true && path !== ':memory:' && canDefer()
    if (isDeferred) {
      // The first commit is synced next to the thread, too. In a log that is new no old page can be taken for a new one.
      db.exec(`PRAGMA synchronous = ${hasRest ? 'NORMAL' : 'OFF'}`)
      db.exec('PRAGMA wal_autocheckpoint = 0')
      connectionOpened(path)
    }
    const recording = onCommit && mode !== 'shared' ? new Recording(db, onCommit) : null
    return { db, statements: new Statements(db), clock: new QueryClock(db), recording, isDeferred, hasRest }
  } catch (reason) {
    // It owns the file by now: if it stays open, the file cannot be opened again.
    db.close()
    throw reason
  }
}

/**
 * Lets only this user read a file, which is created if there is none. SQLite gives a new log the same rights. A file
 * that this user may only read stays so.
 */
export function makePrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & 0o077) === 0) continue
    try {
      chmodSync(file, mode & 0o700)
    } catch {
      // A file of another user, or on a disk without modes: SQLite decides whether it can be opened.
    }
  }
}

/** Whether anything is in the write-ahead log of a file. */
export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

const MOST = 400
const READING =
  /^\s*(?:(?:SELECT|EXPLAIN|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b|WITH\b(?![\s\S]*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b))/i

interface Statement {
  readonly prepared: StatementSync
  readonly writes: boolean
}

/** The prepared statements of a connection. */
class Statements {
  readonly #db: DatabaseSync
  readonly #known = new BoundedMap<string, Statement>(MOST)

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  of(sql: string): Statement {
    const known = this.#known.get(sql)
    if (known) return known
    const statement = this.#prepare(sql)
    this.#known.set(sql, statement)
    return statement
  }

  clear(): void {
    this.#known.clear()
  }

  #prepare(sql: string): Statement {
    const prepared = this.#db.prepare(sql)
    prepared.setReturnArrays(true)
    return { prepared, writes: !READING.test(sql) }
  }
}

/** The limits of a Durable Object's SQLite, so that tests find out here what would fail there. */
const DURABLE_OBJECT_LIMITS = {
  variableNumber: 100,
  column: 100,
  sqlLength: 100_000,
  exprDepth: 100,
  compoundSelect: 5,
  likePatternLength: 50,
}

// A file has one owner: no lock is taken and given back for every read, and no second service writes into it.
const OWNED = 'PRAGMA locking_mode = EXCLUSIVE'

/** What every connection begins with. */
const PRAGMAS = [
  // Of new files: most tenants are small, and each table and index takes a page.
  'PRAGMA page_size = 2048',
  OWNED,
  'PRAGMA journal_mode = WAL',
  // After the mode: in WAL the default could be NORMAL, which loses commits with the power.
  'PRAGMA synchronous = FULL',
  'PRAGMA busy_timeout = 2000',
  // What a large sort or grouping does not keep in memory goes to a file, which has no name. It is opened when it is needed.
  'PRAGMA temp_store = FILE',
  // What is deleted is overwritten, so that an erasure leaves nothing in the file.
  'PRAGMA secure_delete = ON',
]

/** The same for two connections of this process to one file: while a long transaction writes, the other one reads. */
const SHARED_PRAGMAS = PRAGMAS.filter((pragma) => pragma !== OWNED)
