import type { DatabaseSync } from 'node:sqlite'
import { Problem } from '@tildebase/nouns'
import type { LongTransaction, Sql, SqlRow, SqlValue, TransactionWay } from '@tildebase/tenant/ports'
import { copyLog, syncLog } from './checkpoint.ts'
import { FAULTS, faultsIn } from './checks/integrity.ts'
import { clearSumRecord, noteCopy, SumFile } from './checks/sum-file.ts'
import { removeMark } from './checks/wal-mark.ts'
import { copyDatabase } from './copy.ts'
import { DiskSync, fileSync } from './disk-sync.ts'
import { isDamage, isFull } from './failures.ts'
import { closeWithLog, connectionClosed } from './file-handles.ts'
import { hasLog, type Mode, makePrivate, type Opened, openFile, type SqlOptions } from './opened-file.ts'
import { RELEASE, SAVEPOINT, Transactions } from './transactions.ts'

export interface NodeSql extends Sql {
  /** Settles when all commits so far are on the disk; null when they are. */
  pending(): Promise<void> | null
  /** Frees the pages of the file and the statements that are kept in memory. */
  releaseMemory(): void
  /** Copies the log into the file next to this thread, so that closing it is quick. */
  settle(): Promise<void>
  /** The whole database, for another one in memory to begin with. Undefined where Node is too old for it. */
  content(): Uint8Array | undefined
  close(): void
}

const USED_BYTES = `
  SELECT (page_count - freelist_count) * page_size
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

/** Opens a SQLite file, or `:memory:`. It is durable before every commit returns, unless it is deferred. */
export function openSql(path: string, options: SqlOptions = {}): NodeSql {
  if (path !== ':memory:') makePrivate(path)
  return new Connection(path, options, 'alone')
}

class Connection implements NodeSql {
  readonly tick: string
  savepoint?: () => () => void
  readonly #path: string
  readonly #options: SqlOptions
  readonly #onStatement: () => void
  #opened: Opened
  readonly #transactions = new Transactions((sql) => this.rows(sql))
  /** What SQLite found wrong with the file. From then on nothing is read from it and nothing written. */
  #damage: Error | null = null
  #disk: DiskSync | null = null
  /** Set while a long transaction is the only one that may write. */
  #long: PromiseWithResolvers<void> | null = null
  /** Copies in progress. They read from this connection, which is opened again before and after a long transaction. */
  readonly #copies = new Set<Promise<void>>()
  /** The sync of a long transaction that was committed. */
  #syncing: Promise<void> | null = null
  #isClosed = false

  constructor(path: string, options: SqlOptions, mode: Mode) {
    this.#path = path
    this.#options = options
    this.#onStatement = options.onStatement ?? (() => {})
    this.#opened = openFile(path, options, mode)
    this.tick = this.#opened.clock.tick
    this.#syncRest()
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
    const transactions = this.#transactions
    if (transactions.isActive)
      return way === 'joined' ? (work as () => T)() : this.#inner(work as () => T, way === 'guarded')
    if (way !== 'repeatable') return this.#outer(work as () => T)
    transactions.isRepeatable = true
    try {
      return this.#outer(work as () => T)
    } catch (reason) {
      if (reason !== AGAIN) throw reason
    } finally {
      transactions.isRepeatable = false
      transactions.isLost = false
    }
    return this.#outer(work as () => T)
  }

  /** A row of an import calls this eight times: the values stay one list, and no function here holds on to them. */
  #execute(sql: string, values: SqlValue[]): SqlRow[] {
    if (this.#damage) throw this.#damage
    if (this.#transactions.isLost) throw AGAIN
    this.#onStatement()
    const { statements, recording, isDeferred } = this.#opened
    const { prepared, writes } = statements.of(sql)
    if (writes && (recording || isDeferred || this.#long)) {
      if (!this.#transactions.isActive) return this.#executeAlone(sql, values)
      recording?.note(sql)
    }
    if (writes) this.#transactions.protect()
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
      if (this.#transactions.isLost) throw AGAIN
      this.#rollBack()
      throw reason
    } finally {
      this.#transactions.end()
    }
  }

  #begin(): void {
    if (this.#long) throw new Problem('busy', HELD)
    this.#disk?.beforeWrite()
    this.rows('BEGIN IMMEDIATE')
    this.#transactions.begin('whole')
  }

  #commit(): void {
    const announce = this.#opened.recording?.seal()
    this.rows('COMMIT')
    announce?.()
    if (this.#opened.isDeferred) this.#syncLater()
  }

  /** Also after damage, when `rows` refuses everything. */
  #rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
  }

  async long(before: () => void): Promise<LongTransaction> {
    while (this.#copies.size > 0) await Promise.allSettled(this.#copies)
    do {
      await this.pending()
      if (this.#isClosed || this.#long || this.#copies.size > 0) throw new Problem('busy', HELD)
      before()
    } while (this.pending())
    this.#reopen('shared')
    this.#long = Promise.withResolvers()
    let sql: Connection
    try {
      sql = new Connection(this.#path, { ...this.#options, sums: null }, 'long')
      sql.#begin()
      sql.savepoint = () => sql.#savepoint()
    } catch (reason) {
      this.#endLong()
      throw reason
    }
    const end = (way: 'COMMIT' | 'ROLLBACK') => {
      try {
        if (way === 'COMMIT') sql.#commit()
      } finally {
        sql.#rollBack()
        sql.#transactions.end()
        sql.close()
      }
    }
    return {
      sql,
      commit: () => {
        end('COMMIT')
        this.#syncing = syncLog(this.#path).then(
          () => {
            this.#syncing = null
          },
          (reason) => {
            this.#damage = reason
            throw reason
          },
        )
        return this.#syncing
      },
      rollback: () => end('ROLLBACK'),
      release: async () => {
        // A log that cannot be copied now, as on a full disk, stays and is copied later.
        await copyLog(this.#path, this.#options.sums ?? null).catch(() => {})
        this.#endLong()
      },
    }
  }

  /** Owns the file again, unless it was closed meanwhile. */
  #endLong(): void {
    try {
      if (!this.#isClosed) this.#reopen('alone')
    } finally {
      this.#long?.resolve()
      this.#long = null
    }
  }

  #reopen(mode: Mode): void {
    try {
      this.#closeFile()
      this.#disk = null
      this.#opened = openFile(this.#path, this.#options, mode)
    } catch (reason) {
      // There is no open file any more: what asks for it is refused with the reason.
      this.#damage = reason as Error
      throw reason
    }
    this.#syncRest()
  }

  #syncRest(): void {
    if (this.#opened.isDeferred && this.#opened.hasRest) this.#syncLater()
  }

  #savepoint(): () => void {
    const transaction = this.#transactions.begin('own', true)
    this.rows(SAVEPOINT)
    return () => {
      this.#transactions.undo(transaction)
      this.#transactions.end()
    }
  }

  #inner<T>(work: () => T, guarded: boolean): T {
    const transaction = this.#transactions.begin('nothing', guarded)
    try {
      const result = work()
      if (transaction.undo === 'own') this.rows(RELEASE)
      return result
    } catch (reason) {
      if (this.#db.isTransaction) this.#transactions.undo(transaction)
      throw reason
    } finally {
      this.#transactions.end()
    }
  }

  within<T>(ms: number, work: () => T): T {
    return this.#opened.clock.within(ms, work)
  }

  bytes(): number {
    return this.rows(USED_BYTES)[0]![0]
  }

  faults(): string[] {
    return faultsIn(this.rows(FAULTS).map(([line]) => line))
  }

  copyTo(path: string): Promise<void> {
    const copy = this.#copyTo(path).finally(() => void this.#copies.delete(copy))
    this.#copies.add(copy)
    return copy
  }

  async #copyTo(path: string): Promise<void> {
    while (this.#long) await this.#long.promise
    await copyDatabase(this.#db, path, () => {
      if (this.#damage) throw this.#damage
    })
  }

  scrub(): void {
    const copy = () => void this.rows('PRAGMA wal_checkpoint(TRUNCATE)')
    if (this.#disk === null) copy()
    else
      this.#disk.copyNow(() => {
        this.#db.exec('PRAGMA synchronous = FULL')
        copy()
        this.#db.exec('PRAGMA synchronous = NORMAL')
      })
  }

  pending(): Promise<void> | null {
    return this.#syncing ?? this.#disk?.pending() ?? null
  }

  ready(writes: number): Promise<void> | null {
    if (this.#damage) return null // A write that waits for a disk that has failed would wait forever.
    return this.#long?.promise ?? this.#disk?.ready(writes) ?? null
  }

  releaseMemory(): void {
    this.#opened.statements.clear()
    if (!this.#damage) this.#db.exec('PRAGMA shrink_memory')
  }

  async settle(): Promise<void> {
    if (!this.#long) await this.#disk?.settle()
  }

  content(): Uint8Array | undefined {
    return 'serialize' in this.#db ? this.#db.serialize() : undefined
  }

  close(): void {
    this.#isClosed = true
    this.#closeFile()
  }

  #closeFile(): void {
    if (!this.#db.isOpen) return
    const { statements, recording, isDeferred, hasRest } = this.#opened
    statements.clear()
    recording?.close()
    let copied: (() => void) | null = null
    try {
      if (isDeferred) this.#db.exec('PRAGMA synchronous = FULL')
      this.#disk?.close()
      copied = this.#noteLastCopy()
      if (isDeferred || hasRest) removeMark(this.#path)
    } finally {
      if (this.#hasDiskFailed) closeWithLog(this.#db, this.#path)
      else this.#db.close()
      if (isDeferred) connectionClosed(this.#path)
    }
    copied?.()
  }

  /** Whether commits may not be where SQLite believes them to be. */
  get #hasDiskFailed(): boolean {
    return this.#damage !== null && !isDamage(this.#damage)
  }

  /** SQLite copies the log when it closes the file. */
  #noteLastCopy(): (() => void) | null {
    const { sums, disk } = this.#options
    if (!sums) return null
    if (this.#hasDiskFailed) {
      clearSumRecord(this.#path)
      return null
    }
    const { log } = this.#db.prepare(LOG_STATE).get()!
    const sync = disk?.sync ?? fileSync
    return noteCopy(this.#path, sums, Number(log), (file, path) => sync.now(file, path))
  }

  #syncLater(): void {
    if (this.#disk === null && !hasLog(this.#path)) return
    this.#disk ??= this.#beginSyncs()
    this.#disk.committed()
  }

  #beginSyncs(): DiskSync {
    // SQLite still syncs the head of a log that it starts again: old pages after a lost head would be taken for new ones.
    this.#db.exec('PRAGMA synchronous = NORMAL')
    const state = this.#db.prepare(LOG_STATE)
    const { sums, disk } = this.#options
    return new DiskSync(this.#path, {
      sum: sums ? new SumFile(this.#path, sums) : null,
      isCopy: this.#opened.recording !== null,
      // Not by `rows`: the thread does not turn to this tenant because its disk has answered.
      pages: () => Number(state.get()!.log),
      hasUncopied: () => {
        const { log, checkpointed } = state.get()!
        return log !== checkpointed
      },
      checkpoint: () => this.#copyLog(),
      failed: (reason) => {
        this.#damage = reason
      },
      ...disk,
    })
  }

  /** On a full disk the log stays as it is, and is copied later. Other failures end the use of the file. */
  #copyLog(): void {
    this.#db.exec('PRAGMA synchronous = OFF')
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch (reason) {
      if (!isFull(reason)) this.#damage = reason as Error
    }
    this.#db.exec('PRAGMA synchronous = NORMAL')
  }
}

/** How many pages the log has, and how many of them are in the file. */
const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)'
const HELD = 'A task is changing this tenant. Writes wait until it has ended.'
const AGAIN = new Error('All of this transaction is undone and run again.')
