import { closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { SUM_FILE, type SumFile } from './checks/sum-file.ts'
import { WalMark } from './checks/wal-mark.ts'
import { closeHandle } from './file-handles.ts'

/** Brings what was written to a file to the disk. */
export interface FileSync {
  /** Next to this thread. */
  later(file: number, path: string, done: (reason: Error | null) => void): void
  now(file: number, path: string): void
  /** Brings the names in a folder to the disk, next to this thread. */
  folder(file: number, path: string, done: (reason: Error | null) => void): void
}

export interface DiskSyncOptions {
  /** The checksum of the database, if one is kept. */
  readonly sum: SumFile | null
  /** The commits are kept elsewhere, too: nothing waits for this disk, and the log comes to it when it is copied. */
  readonly isCopy: boolean
  /** How many pages the write-ahead log holds. */
  readonly pages: () => number
  /** Whether some of them are not in the database yet. */
  readonly hasUncopied: () => boolean
  /** Copies the pages of the write-ahead log into the database. Nothing is synced. */
  readonly checkpoint: () => void
  /** The disk has failed: what was committed may be lost. */
  readonly failed: (reason: Error) => void
  readonly sync?: FileSync | undefined
  /** The log is copied into the database when it has so many pages. */
  readonly mostPages?: number | undefined
}

interface Waiting {
  readonly commit: number
  readonly promise: Promise<void>
  readonly done: () => void
  readonly failed: (reason: Error) => void
}

/** 8 MiB: the longer the log is, the fewer pages are copied twice. */
const MOST_PAGES = 4_000
/** A sync that takes longer than this is left to another thread, and so are the next ones: others wait for this one. */
const QUICK_MS = 1
const SLOW_SYNCS = 64
/** So many writes are worth a commit of their own. */
const ENOUGH = 16

export const fileSync: FileSync = {
  later: (file, _, done) => fdatasync(file, done),
  now: (file) => fdatasyncSync(file),
  folder: (file, _, done) => fsync(file, done),
}

/** How many more syncs of this thread are left to another one, and how many are there now. All its files are on one disk. */
let slow = 0
let underWay = 0

/**
 * Syncs the commits of a SQLite file next to the thread, so that other tenants do not wait for the disk. SQLite itself
 * syncs no commit and no copy of its log meanwhile, so the order is kept here:
 *
 * 1. What a commit has changed leaves the service when the write-ahead log is on the disk: `pending`.
 * 2. The log is copied into the database when all of the log is on the disk, and the disk knows that the
 *    checksum of the database changes.
 * 3. The next commit, which may overwrite the log, waits until the database is on the disk: `ready`.
 */
export class DiskSync {
  readonly #options: DiskSyncOptions
  readonly #path: string
  readonly #sync: FileSync
  readonly #log: number
  readonly #mark: WalMark
  readonly #database: number
  readonly #sum: SumFile | null
  /** The folder of the log, until its name is on the disk. Windows has no handles of folders to sync. */
  #folder: number | null
  /** Commits so far, and how many of them are on the disk. */
  #committed = 0
  #synced = 0
  #isSyncing = false
  #waiting: Waiting[] = []
  /** How often all of the log was copied into the database. */
  #copies = 0
  /** Set from the moment when the log is too long until the database is on the disk. */
  #copying: PromiseWithResolvers<void> | null = null
  /** The copy was put off once, for a commit that did not wait for it: the next try waits for the disk in this thread. */
  #isPutOff = false
  /** The database has pages that are not on the disk yet. */
  #isCopied = false
  #failure: Error | null = null
  #isClosed = false

  constructor(path: string, options: DiskSyncOptions) {
    this.#path = path
    this.#options = options
    this.#sync = options.sync ?? fileSync
    this.#log = openSync(`${path}-wal`, 'r+')
    this.#mark = new WalMark(path, this.#log)
    this.#database = openSync(path, 'r+')
    this.#sum = options.sum
    this.#folder = process.platform === 'win32' ? null : openSync(dirname(path), 'r')
  }

  /** The file has one commit more. */
  committed(): void {
    this.#committed++
    if (this.#isSyncing || (this.#options.isCopy && this.#options.pages() < this.#mostPages)) return
    // After a start many files have their first commit at once: the disk takes these together.
    if (slow === 0 && underWay === 0 && this.#folder === null) this.#syncNow()
    else this.#syncLog()
  }

  /** Settles when all commits so far are on the disk; null when they are. */
  pending(): Promise<void> | null {
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#options.isCopy || this.#synced === this.#committed) return null
    const last = this.#waiting.at(-1)
    if (last?.commit === this.#committed) return last.promise
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // No request waits for a commit of background work.
    promise.catch(() => {})
    this.#waiting.push({ commit: this.#committed, promise, done: resolve, failed: reject })
    return promise
  }

  /**
   * Settles when so many writes should be committed; null when that is now. While the disk is at work a few writes wait
   * until more have come: each commit costs, however small it is.
   */
  ready(writes: number): Promise<void> | null {
    if (this.#copying) return this.#copying.promise
    return writes < ENOUGH ? this.pending() : null
  }

  get #mostPages(): number {
    return this.#options.mostPages ?? MOST_PAGES
  }

  /** Copies the log into the database next to the thread: closing the file is then quick. */
  async settle(): Promise<void> {
    if (this.#failure || this.#isClosed) return
    if (this.#copying === null) {
      this.#copying = Promise.withResolvers()
      if (!this.#isSyncing) this.#attempt(() => this.#syncedTo(this.#synced))
    }
    await this.#copying?.promise
  }

  /** Before a write that could not wait for `ready`. */
  beforeWrite(): void {
    if (!this.#isCopied) return
    this.#syncOrFail(this.#database, this.#path)
    this.#databaseIsOnDisk()
  }

  /** SQLite copies all of the log and syncs it, in `work`. */
  copyNow(work: () => void): void {
    this.#syncAll()
    if (this.#noteCopy(true)) {
      this.#sync.now(this.#sum!.file, `${this.#path}${SUM_FILE}`)
      this.#sum!.noted()
    }
    work()
    this.#settled()
    this.#renewSum()
  }

  /** Before SQLite closes the file. It then copies and syncs what is left. */
  close(): void {
    try {
      this.#syncAll()
    } finally {
      this.#settled()
      this.#isClosed = true
      if (!this.#isSyncing) this.#closeFiles()
    }
  }

  /** Before SQLite removes or empties the log: it does not sync again what it has copied. */
  #syncAll(): void {
    if (this.#failure) return
    if (this.#synced < this.#committed) this.#syncOrFail(this.#log, `${this.#path}-wal`)
    this.beforeWrite()
  }

  /** A disk that has failed once forgets what it was given: the next sync would say nothing of it. */
  #syncOrFail(file: number, path: string): void {
    try {
      this.#sync.now(file, path)
    } catch (reason) {
      this.#fail(reason as Error)
      throw reason
    }
  }

  /** A disk that is quicker than another thread is not worth one. */
  #syncNow(): void {
    const begun = performance.now()
    const pages = this.#options.pages()
    try {
      this.#sync.now(this.#log, `${this.#path}-wal`)
      if (performance.now() - begun > QUICK_MS) slow = SLOW_SYNCS
      this.#logIsOnDisk(this.#committed, pages)
    } catch (reason) {
      this.#fail(reason as Error)
      throw reason
    }
  }

  #syncLog(): void {
    const upTo = this.#committed
    const pages = this.#options.pages()
    const copies = this.#copies
    // SQLite may have copied the log and started it again meanwhile: it does not hold these pages any more.
    const synced = (reason: Error | null) => this.#logSynced(upTo, this.#copies === copies ? pages : 0, reason)
    this.#isSyncing = true
    underWay++
    if (slow > 0) slow--
    this.#sync.later(this.#log, `${this.#path}-wal`, (reason) => {
      if (reason || this.#isClosed || this.#folder === null) return synced(reason)
      this.#sync.folder(this.#folder, dirname(this.#path), (reason) => {
        if (!reason) this.#closeFolder()
        synced(reason)
      })
    })
  }

  #logSynced(upTo: number, pages: number, failure: Error | null): void {
    underWay--
    this.#isSyncing = false
    if (this.#isClosed) this.#closeFiles()
    else if (failure) this.#fail(failure)
    else this.#attempt(() => this.#logIsOnDisk(upTo, pages))
  }

  /** Nothing waits for an exception after a sync: it ends the use of the file. */
  #attempt(work: () => void): void {
    try {
      work()
    } catch (reason) {
      this.#fail(reason as Error)
    }
  }

  /** So many commits are on the disk, and so many pages of the log. */
  #logIsOnDisk(commit: number, pages: number): void {
    if (pages > 0) this.#mark.synced(pages)
    if (pages >= this.#mostPages) this.#copying ??= Promise.withResolvers()
    this.#syncedTo(commit)
  }

  #syncedTo(commit: number): void {
    this.#reached(commit)
    if (this.#synced === this.#committed) {
      if (this.#copying) this.#copy()
    } else if (this.#isPutOff) this.#syncNow()
    else {
      this.#isPutOff = this.#copying !== null
      this.#syncLog()
    }
  }

  #copy(): void {
    if (this.#noteCopy()) {
      if (!this.#isPutOff) {
        this.#syncSum(this.#sum!)
        return
      }
      this.#syncOrFail(this.#sum!.file, `${this.#path}${SUM_FILE}`)
      this.#sum!.noted()
    }
    this.#isCopied = true
    this.#options.checkpoint()
    this.#isSyncing = true
    this.#sync.later(this.#database, this.#path, (reason) => {
      this.#isSyncing = false
      if (this.#isClosed) return this.#closeFiles()
      if (reason) return this.#fail(reason)
      this.#attempt(() => {
        this.#databaseIsOnDisk()
        if (this.#synced < this.#committed) this.#syncLog()
      })
    })
  }

  /** The disk knows that the checksum changes before the database does. */
  #syncSum(sum: SumFile): void {
    this.#isSyncing = true
    this.#sync.later(sum.file, `${this.#path}${SUM_FILE}`, (reason) => {
      this.#isSyncing = false
      if (this.#isClosed) return this.#closeFiles()
      if (reason) return this.#fail(reason)
      sum.noted()
      // A write that could not wait may have come meanwhile.
      this.#attempt(() => this.#syncedTo(this.#synced))
    })
  }

  /** Notes that the checksum of the database changes. Returns whether that has to come to the disk first. */
  #noteCopy(isLast = false): boolean {
    return this.#sum !== null && this.#options.hasUncopied() && this.#sum.begin(this.#options.pages(), isLast)
  }

  #databaseIsOnDisk(): void {
    this.#renewSum()
    this.#copied()
  }

  /** A statement that still reads may have kept SQLite from copying all of the log. */
  #renewSum(): void {
    if (this.#sum && !this.#options.hasUncopied()) this.#sum.copied()
  }

  #settled(): void {
    this.#reached(this.#committed)
    this.#copied()
  }

  #reached(commit: number): void {
    this.#synced = Math.max(this.#synced, commit)
    let count = 0
    while (count < this.#waiting.length && this.#waiting[count]!.commit <= this.#synced) count++
    for (const { done } of this.#waiting.splice(0, count)) done()
  }

  #copied(): void {
    this.#copies++
    this.#mark.copied()
    this.#goOn()
  }

  #goOn(): void {
    this.#isCopied = false
    this.#isPutOff = false
    this.#copying?.resolve()
    this.#copying = null
  }

  #fail(reason: Error): void {
    this.#failure = reason
    this.#options.failed(reason)
    for (const { failed } of this.#waiting.splice(0)) failed(reason)
    this.#goOn()
  }

  #closeFolder(): void {
    if (this.#folder !== null) closeSync(this.#folder)
    this.#folder = null
  }

  #closeFiles(): void {
    this.#closeFolder()
    closeSync(this.#log)
    this.#mark.close()
    this.#sum?.close()
    closeHandle(this.#path, this.#database)
  }
}

/** Older versions of SQLite cannot tell how long their log is without copying it. All files of a process have the same. */
export function canDefer(): boolean {
  isAble ??= isRecent(process.versions.sqlite ?? '0')
  return isAble
}

let isAble: boolean | undefined

function isRecent(version: string): boolean {
  const [major, minor] = version.split('.').map(Number)
  return major! > 3 || (major === 3 && minor! >= 51)
}

/** Brings a file, or the names in a folder, to the disk. Waits for it. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
