import type { DatabaseSync } from 'node:sqlite'
import { Problem } from '@tildebase/nouns'
import type { LongTransaction, Sql, SqlRow, SqlValue, TransactionWay } from '@tildebase/tenant/ports'
import { copyLog, syncLog } from './checkpoint.ts'
import { copyDatabase } from './copy.ts'
import { DiskSync } from './disk-sync.ts'
import { connectionClosed } from './file-handles.ts'
import { clearFileSum } from './open-sum.ts'
import { hasLog, type Mode, makePrivate, type Opened, openFile, type SqlOptions } from './opened-file.ts'
import { removeMark } from './wal-mark.ts'

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

/** A transaction in progress, and what going back to its start takes. */
interface Frame {
  undo: 'whole' | 'own' | 'shared' | 'again' | 'nothing'
  readonly guarded: boolean
}

class Connection implements NodeSql {
  readonly tick: string
  savepoint?: () => () => void
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
    if (this.#frames.length > 0)
      return way === 'joined' ? (work as () => T)() : this.#inner(work as () => T, way === 'guarded')
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

  async long(before: () => void): Promise<LongTransaction> {
    while (this.#copies.size > 0) await Promise.allSettled(this.#copies)
    do {
      await this.pending()
      if (this.#isClosed || this.#long || this.#copies.size > 0) throw new Problem('busy', HELD)
      before()
    } while (this.pending())
    clearFileSum(this.#path)
    this.#reopen('shared')
    this.#long = Promise.withResolvers()
    let sql: Connection
    try {
      sql = new Connection(this.#path, this.#options, 'long')
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
        if (sql.#db.isTransaction) sql.rows('ROLLBACK')
        sql.#frames.pop()
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
    this.#syncRest()
  }

  #syncRest(): void {
    if (this.#opened.isDeferred && this.#opened.hasRest) this.#syncLater()
  }

  #savepoint(): () => void {
    const frame: Frame = { undo: 'own', guarded: true }
    this.#frames.push(frame)
    this.rows('SAVEPOINT inner_work')
    return () => {
      this.#undo(frame)
      this.#frames.pop()
    }
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
    const { statements, recording, isDeferred, hasRest } = this.#opened
    statements.clear()
    recording?.close()
    if (isDeferred) this.#db.exec('PRAGMA synchronous = FULL')
    this.#disk?.close()
    if (isDeferred || hasRest) removeMark(this.#path)
    this.#db.close()
    if (isDeferred) connectionClosed(this.#path)
  }

  #syncLater(): void {
    if (this.#disk === null && !hasLog(this.#path)) return
    this.#disk ??= this.#beginSyncs()
    this.#disk.committed()
  }

  #beginSyncs(): DiskSync {
    // SQLite still syncs the head of a log that it starts again: old pages after a lost head would be taken for new ones.
    this.#db.exec('PRAGMA synchronous = NORMAL')
    const state = this.#db.prepare('PRAGMA wal_checkpoint(NOOP)')
    return new DiskSync(this.#path, {
      // Not by `rows`: the thread does not turn to this tenant because its disk has answered.
      pages: () => Number(state.get()!.log),
      hasUncopied: () => {
        const { log, checkpointed } = state.get()!
        return log !== checkpointed
      },
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

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
function isDamage(reason: unknown): reason is Error {
  const code = (reason as { errcode?: number }).errcode ?? 0
  return (code & 0xff) === 11 || (code & 0xff) === 26
}
