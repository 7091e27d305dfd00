import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite'
import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { LongTransaction, Sql, SqlRow, SqlValue, TransactionWay } from '@tildebase/tenant/ports'
import { copyLog, syncLog } from './checkpoint.ts'
import { canDefer, DiskSync, type DiskSyncOptions, Flusher, syncRest } from './disk-sync.ts'
import { connectionClosed, connectionOpened } from './file-handles.ts'
import { QueryClock } from './query-clock.ts'
import { type OnCommit, Recording } from './recording.ts'

export interface NodeSql extends Sql {
  /** Settles when all commits so far are on the disk; null when they are. */
  pending(): Promise<void> | null
  /** Frees the pages of the file and the statements that are kept in memory. */
  releaseMemory(): void
  close(): void
}

/** The pages that a copy takes at once, in well under a millisecond. Statements wait for them. */
const COPIED_AT_ONCE = 128
const MOST_TRIES = 100

const USED_BYTES = `
  SELECT (page_count - freelist_count) * page_size
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

interface SqlOptions {
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
}

/** Opens a SQLite file, or `:memory:`. It is durable before every commit returns, unless it is deferred. */
export function openSql(path: string, options: SqlOptions = {}): NodeSql {
  if (path !== ':memory:') makePrivate(path)
  return new Connection(path, options, 'alone')
}

/** Whether a connection owns its file, shares it with a long transaction, or is that. */
type Mode = 'alone' | 'shared' | 'long'

interface Opened {
  readonly db: DatabaseSync
  readonly statements: Statements
  readonly clock: QueryClock
  /** Records the changes of every commit, where they are kept elsewhere too. */
  readonly recording: Recording | null
  readonly isDeferred: boolean
}

function openFile(path: string, options: SqlOptions, mode: Mode): Opened {
  const { limits = false, cacheKiB = 8_000, onCommit } = options
  const db = new DatabaseSync(path, limits ? { limits: DURABLE_OBJECT_LIMITS } : {})
  try {
    for (const pragma of mode === 'alone' ? PRAGMAS : SHARED_PRAGMAS) db.exec(pragma)
    db.exec(`PRAGMA cache_size = ${-cacheKiB}`)
    // What the power takes from this file is elsewhere. The commit of a long transaction is synced next to the thread.
    if (onCommit || mode === 'long') db.exec('PRAGMA synchronous = NORMAL')
    if (mode !== 'alone') db.exec('PRAGMA wal_autocheckpoint = 0')
    const isDeferred = mode === 'alone' && options.deferred === true && path !== ':memory:' && !onCommit && canDefer(db)
    if (isDeferred) {
      syncRest(path)
      connectionOpened(path)
    }
    const recording = onCommit && mode !== 'shared' ? new Recording(db, onCommit) : null
    return { db, statements: new Statements(db), clock: new QueryClock(db), recording, isDeferred }
  } catch (reason) {
    // It owns the file by now: if it stays open, the file cannot be opened again.
    db.close()
    throw reason
  }
}

/** A transaction in progress, and what going back to its start takes. */
interface Frame {
  undo: 'whole' | 'own' | 'shared' | 'again' | 'nothing'
  readonly guarded: boolean
}

class Connection implements NodeSql {
  readonly tick: string
  readonly #path: string
  readonly #options: SqlOptions
  readonly #onStatement: () => void
  #opened: Opened
  /** The transactions in progress, the outermost first. */
  readonly #frames: Frame[] = []
  /** Whether the transaction in progress may be run again, and whether it has to be: nothing of it is there any more. */
  #repeatable = false
  #lost = false
  /** What SQLite found wrong with the file. From then on nothing is read from it and nothing written. */
  #damage: Error | null = null
  #disk: DiskSync | null = null
  /** Set while a long transaction is the only one that may write. */
  #long: PromiseWithResolvers<void> | null = null
  /** Copies in progress. They read from this connection, which is opened again before and after a long transaction. */
  readonly #copies = new Set<Promise<void>>()
  #isClosed = false

  constructor(path: string, options: SqlOptions, mode: Mode) {
    this.#path = path
    this.#options = options
    this.#onStatement = options.onStatement ?? (() => {})
    this.#opened = openFile(path, options, mode)
    this.tick = this.#opened.clock.tick
  }

  get #db(): DatabaseSync {
    return this.#opened.db
  }

  rows(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#execute(sql, values)
  }

  run(sql: string, ...values: SqlValue[]): void {
    this.#execute(sql, values)
  }

  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T, way?: TransactionWay): T {
    if (this.#frames.length > 0) return this.#inner(work as () => T, way === 'guarded')
    if (way !== 'repeatable') return this.#outer(work as () => T)
    this.#repeatable = true
    try {
      return this.#outer(work as () => T)
    } catch (reason) {
      if (reason !== AGAIN) throw reason
    } finally {
      this.#repeatable = false
      this.#lost = false
    }
    return this.#outer(work as () => T)
  }

  /** A row of an import calls this eight times: the values stay one list, and no function here holds on to them. */
  #execute(sql: string, values: SqlValue[]): SqlRow[] {
    if (this.#damage) throw this.#damage
    if (this.#lost) throw AGAIN
    this.#onStatement()
    const { statements, recording, isDeferred } = this.#opened
    const { prepared, writes } = statements.of(sql)
    if (writes && (recording || isDeferred || this.#long)) {
      if (this.#frames.length === 0) return this.#executeAlone(sql, values)
      recording?.note(sql)
    }
    if (writes) this.#protect()
    try {
      // Not `run`: it would tell the last rowid, which the text index chooses beyond what a number can hold, and throw.
      return prepared.all(...values) as unknown as SqlRow[]
    } catch (reason) {
      if (isDamage(reason)) this.#damage = reason
      throw reason
    }
  }

  #executeAlone(sql: string, values: SqlValue[]): SqlRow[] {
    return this.#outer(() => this.#execute(sql, values))
  }

  #outer<T>(work: () => T): T {
    this.#begin()
    try {
      const result = work()
      this.#commit()
      return result
    } catch (reason) {
      if (this.#lost) throw AGAIN
      if (this.#db.isTransaction) this.rows('ROLLBACK')
      throw reason
    } finally {
      this.#frames.pop()
    }
  }

  #begin(): void {
    if (this.#long) throw new Problem('busy', HELD)
    this.#disk?.beforeWrite()
    this.rows('BEGIN IMMEDIATE')
    this.#frames.push({ undo: 'whole', guarded: false })
  }

  #commit(): void {
    const announce = this.#opened.recording?.seal()
    this.rows('COMMIT')
    announce?.()
    if (this.#opened.isDeferred) this.#syncLater()
  }

  async long(): Promise<LongTransaction> {
    while (this.#copies.size > 0) await Promise.allSettled(this.#copies)
    await this.pending()
    if (this.#isClosed || this.#long || this.#copies.size > 0) throw new Problem('busy', HELD)
    this.#reopen('shared')
    this.#long = Promise.withResolvers()
    let sql: Connection
    try {
      sql = new Connection(this.#path, this.#options, 'long')
      sql.#begin()
    } catch (reason) {
      this.#endLong()
      throw reason
    }
    const end = (way: 'COMMIT' | 'ROLLBACK') => {
      try {
        if (way === 'COMMIT') sql.#commit()
      } finally {
        if (sql.#db.isTransaction) sql.rows('ROLLBACK')
        sql.#frames.pop()
        sql.close()
      }
    }
    return {
      sql,
      commit: async () => {
        end('COMMIT')
        await syncLog(this.#path)
      },
      rollback: () => end('ROLLBACK'),
      release: async () => {
        await copyLog(this.#path)
        this.#endLong()
      },
    }
  }

  /** Owns the file again, unless it was closed meanwhile. */
  #endLong(): void {
    if (!this.#isClosed) this.#reopen('alone')
    this.#long?.resolve()
    this.#long = null
  }

  #reopen(mode: Mode): void {
    this.#closeFile()
    this.#disk = null
    this.#opened = openFile(this.#path, this.#options, mode)
  }

  #inner<T>(work: () => T, guarded: boolean): T {
    const frame: Frame = { undo: 'nothing', guarded }
    this.#frames.push(frame)
    try {
      const result = work()
      if (frame.undo === 'own') this.rows('RELEASE inner_work')
      return result
    } catch (reason) {
      if (this.#db.isTransaction) this.#undo(frame)
      throw reason
    } finally {
      this.#frames.pop()
    }
  }

  within<T>(ms: number, work: () => T): T {
    return this.#opened.clock.within(ms, work)
  }

  bytes(): number {
    return this.rows(USED_BYTES)[0]![0]
  }

  faults(): string[] {
    return this.rows('PRAGMA integrity_check(20)').flatMap(([line]) => (line === 'ok' ? [] : [line as string]))
  }

  copyTo(path: string): Promise<void> {
    const copy = this.#copyTo(path).finally(() => void this.#copies.delete(copy))
    this.#copies.add(copy)
    return copy
  }

  async #copyTo(path: string): Promise<void> {
    while (this.#long) await this.#long.promise
    for (let tries = 1; ; tries++) {
      if (this.#damage) throw this.#damage
      const flusher = new Flusher(path)
      const progress = () => flusher.copied(COPIED_AT_ONCE)
      try {
        return void (await backup(this.#db, path, { rate: COPIED_AT_ONCE, progress }))
      } catch (reason) {
        if (!isLocked(reason) || tries === MOST_TRIES) throw reason
      } finally {
        flusher.close()
      }
    }
  }

  scrub(): void {
    if (this.#disk) this.#db.exec('PRAGMA synchronous = FULL')
    this.rows('PRAGMA wal_checkpoint(TRUNCATE)')
    if (this.#disk) this.#db.exec('PRAGMA synchronous = NORMAL')
    this.#disk?.settled()
  }

  pending(): Promise<void> | null {
    return this.#disk?.pending() ?? null
  }

  ready(writes: number): Promise<void> | null {
    return this.#long?.promise ?? this.#disk?.ready(writes) ?? null
  }

  releaseMemory(): void {
    this.#opened.statements.clear()
    if (!this.#damage) this.#db.exec('PRAGMA shrink_memory')
  }

  close(): void {
    this.#isClosed = true
    this.#closeFile()
  }

  #closeFile(): void {
    const { statements, recording, isDeferred } = this.#opened
    statements.clear()
    recording?.close()
    if (this.#disk) this.#db.exec('PRAGMA synchronous = FULL')
    this.#disk?.close()
    this.#db.close()
    if (isDeferred) connectionClosed(this.#path)
  }

  /** From the second commit on: SQLite itself syncs the first one, and with it the folder that holds the new log. */
  #syncLater(): void {
    if (this.#disk) return void this.#disk.committed()
    // SQLite still syncs the head of a log that it starts again: old pages after a lost head would be taken for new ones.
    this.#db.exec('PRAGMA synchronous = NORMAL')
    this.#db.exec('PRAGMA wal_autocheckpoint = 0')
    this.#disk = new DiskSync(this.#path, {
      // Not by `rows`: the thread does not turn to this tenant because its disk has answered.
      pages: () => Number(this.#db.prepare('PRAGMA wal_checkpoint(NOOP)').get()!.log),
      checkpoint: () => {
        this.#db.exec('PRAGMA synchronous = OFF')
        this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
        this.#db.exec('PRAGMA synchronous = NORMAL')
      },
      failed: (reason) => {
        this.#damage = reason
      },
      ...this.#options.disk,
    })
  }

  /**
   * Before the first write of inner transactions: one savepoint serves all of them that have written nothing yet, as
   * they go back to the same state. It is the outermost one's own. A savepoint copies every page that is written
   * after it, so where all can be run again none is made, unless going back is certain.
   */
  #protect(): void {
    if (this.#frames.at(-1)?.undo !== 'nothing') return
    const clean = this.#frames.slice(this.#frames.findIndex(({ undo }) => undo === 'nothing'))
    const bare = this.#repeatable ? clean.findIndex(({ guarded }) => guarded) : 0
    for (const frame of bare < 0 ? clean : clean.slice(0, bare)) frame.undo = 'again'
    if (bare < 0) return
    for (const frame of clean.slice(bare)) frame.undo = 'shared'
    clean[bare]!.undo = 'own'
    this.rows('SAVEPOINT inner_work')
  }

  /** A savepoint's name may repeat: the innermost is meant. */
  #undo({ undo }: Frame): void {
    if (undo === 'again') {
      this.rows('ROLLBACK')
      this.#lost = true
    }
    if (undo === 'own' || undo === 'shared') this.rows('ROLLBACK TO inner_work')
    if (undo === 'own') this.rows('RELEASE inner_work')
  }
}

const HELD = 'A task is changing this tenant. Writes wait until it has ended.'
const AGAIN = new Error('All of this transaction is undone and run again.')

/** Lets only this user read a file, which is created if there is none. SQLite gives a new log the same rights. */
function makePrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & 0o077) === 0) continue
    try {
      chmodSync(file, 0o600)
    } catch {
      // A file of another user, or on a disk without modes: SQLite decides whether it can be opened.
    }
  }
}

const MOST = 400
const READING = /^\s*(?:SELECT|EXPLAIN|PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/i

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

/** A copy cannot begin in the middle of a transaction. Node then reports the code of no error at all. */
function isLocked(reason: unknown): boolean {
  const { errcode } = reason as { errcode?: number }
  return errcode !== undefined && [0, SQLITE_BUSY, SQLITE_LOCKED].includes(errcode & 0xff)
}

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
function isDamage(reason: unknown): reason is Error {
  const code = (reason as { errcode?: number }).errcode ?? 0
  return (code & 0xff) === 11 || (code & 0xff) === 26
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
