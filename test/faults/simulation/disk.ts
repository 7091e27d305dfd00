import { execFileSync } from 'node:child_process'
import fs, {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite'
import type { Chance } from '../../chance.ts'

/** What can be wrong with the disk, by the numbers of disk.c. */
const DISK_FAULTS = {
  none: 0,
  writeError: 1,
  full: 2,
  shortWrite: 3,
  syncError: 4,
  lostSync: 5,
  readError: 6,
  crash: 7,
} as const

export type DiskFault = keyof typeof DISK_FAULTS

const SECTOR = 512
/** How long a sync takes. */
const SYNC_MS = 12
const NAMED = '.named'

/** Compiles the library that fails the operations of a process on its files. */
export function compileDisk(into: string): string {
  const library = join(into, 'disk.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(import.meta.dirname, 'disk.c')])
  return library
}

/** The variables of a process whose files in `root` are on the simulated disk. */
export function diskVariables(root: string, library: string): Record<string, string> {
  mkdirSync(join(root, 'synced'), { recursive: true })
  writeFileSync(join(root, 'control'), Buffer.alloc(32))
  return {
    LD_PRELOAD: library,
    SIM_FILES: join(root, 'files'),
    SIM_SYNCED: join(root, 'synced'),
    SIM_CONTROL: join(root, 'control'),
  }
}

/** The disk of the simulation: `files` is the folder of the data, which a crash replaces by what is left of it. */
export class SimulatedDisk {
  readonly root: string
  readonly #control: number
  readonly #chance: Chance
  /** How often the process was killed. */
  #generation = 0
  /** What was open when the process was killed. */
  readonly #handles = new Set<number>()
  readonly #databases = new Set<DatabaseSync>()
  /** Ends of syncs that have not come. */
  readonly #syncs = new Set<(reason: Error) => void>()

  constructor(root: string, chance: Chance) {
    this.root = root
    this.#chance = chance
    this.#control = openSync(join(root, 'control'), 'r+')
    mkdirSync(this.data, { recursive: true })
    this.#noteHandles()
    this.#slowSyncs()
  }

  /** The folder of the data. */
  get data(): string {
    return join(this.root, 'files', String(this.#generation))
  }

  /** Lets an operation fail after so many others; `none` repairs the disk. */
  fail(fault: DiskFault, after: number): void {
    this.#set(0, 0)
    this.#set(3, 0)
    this.#set(1, after)
    this.#set(0, DISK_FAULTS[fault])
  }

  /** How often an operation has failed since `fail`. */
  get hits(): number {
    return this.#get(3)
  }

  /** Whether the operation has come at which the process is to be killed. */
  get isCrashed(): boolean {
    return this.#get(0) === DISK_FAULTS.crash && this.hits > 0
  }

  /** Operations that change the disk so far. */
  get operations(): number {
    return this.#get(2)
  }

  /** Lets all that the killed process still tries fail, so that it ends. */
  end(): void {
    this.fail('crash', 0)
    for (const failed of this.#syncs) failed(new Error('The process was killed.'))
    this.#syncs.clear()
  }

  /** The files after a kill: what it has written is there. With `power` lost too, any sectors of what was not synced are. */
  crash(power: boolean): void {
    this.fail('none', 0)
    const from = this.data
    const left = power ? this.#afterCut(from) : allFiles(from).map((name) => ({ name, content: null }))
    this.#generation++
    mkdirSync(this.data, { recursive: true })
    for (const { name, content } of left) {
      const to = join(this.data, name)
      mkdirSync(dirname(to), { recursive: true })
      if (content === null) copyFileSync(join(from, name), to)
      else writeFileSync(to, content)
      const { atime, mtime } = statSync(join(from, name), { throwIfNoEntry: false }) ?? { atime: 0, mtime: 0 }
      utimesSync(to, atime, mtime)
    }
    this.#closeAll()
    rmSync(from, { recursive: true, force: true })
    this.#emptySynced()
    // All that is left is on the disk now.
    syncAll(this.data)
  }

  #afterCut(from: string): { readonly name: string; readonly content: Buffer }[] {
    const prefix = `${this.#generation}%`
    const copies = readdirSync(join(this.root, 'synced')).filter((name) => name.startsWith(prefix))
    const synced = copies.filter((name) => !name.endsWith(NAMED)).map((name) => name.slice(prefix.length))
    const named = new Set(copies.filter((name) => name.endsWith(NAMED)).map((name) => name.slice(prefix.length, -6)))
    const names = new Set([...allFiles(from), ...synced.map((name) => name.replaceAll('%', '/'))])
    return [...names].sort().flatMap((name) => {
      const flat = name.replaceAll('/', '%')
      const copy = join(this.root, 'synced', `${prefix}${flat}`)
      const kept = existsSync(copy) ? readFileSync(copy) : null
      const isThere = existsSync(join(from, name))
      // A name that is not on the disk yet, and one that is still there although its file was removed.
      if (!isThere && (kept === null || !named.has(flat) || this.#chance.next() < 0.7)) return []
      if (isThere && !named.has(flat) && this.#chance.next() < 0.5) return []
      const written = isThere ? readFileSync(join(from, name)) : kept!
      return [{ name, content: this.#mixed(written, kept ?? Buffer.alloc(0)) }]
    })
  }

  #mixed(written: Buffer, kept: Buffer): Buffer {
    const length = this.#chance.next() < 0.5 ? written.length : Math.min(kept.length, written.length)
    const left = Buffer.alloc(this.#chance.next() < 0.2 && kept.length > length ? kept.length : length)
    const share = this.#chance.next()
    for (let at = 0; at < left.length; at += SECTOR) {
      const isWritten = this.#chance.next() < share
      const from = isWritten && at < written.length ? written : kept
      if (at < from.length) from.copy(left, at, at, Math.min(at + SECTOR, left.length))
    }
    return left
  }

  #emptySynced(): void {
    rmSync(join(this.root, 'synced'), { recursive: true, force: true })
    mkdirSync(join(this.root, 'synced'))
  }

  #closeAll(): void {
    for (const database of this.#databases) {
      try {
        if (database.isOpen) database.close()
      } catch {
        // It was killed in the middle of something.
      }
    }
    this.#databases.clear()
    for (const handle of this.#handles) {
      try {
        closeSync(handle)
      } catch {
        // SQLite, or the service, has closed it.
      }
    }
    this.#handles.clear()
  }

  #get(index: number): number {
    const value = Buffer.alloc(8)
    fs.readSync(this.#control, value, 0, 8, index * 8)
    return Number(value.readBigInt64LE())
  }

  #set(index: number, to: number): void {
    const value = Buffer.alloc(8)
    value.writeBigInt64LE(BigInt(to))
    writeSync(this.#control, value, 0, 8, index * 8)
  }

  /** Notes what the service opens, so that it can be closed after a kill. */
  #noteHandles(): void {
    const files = join(this.root, 'files')
    const [open, close] = [fs.openSync, fs.closeSync]
    fs.openSync = (path, ...more) => {
      const handle = open(path, ...more)
      if (String(path).startsWith(files)) this.#handles.add(handle)
      return handle
    }
    fs.closeSync = (handle) => {
      this.#handles.delete(handle)
      close(handle)
    }
    const sqlite: { DatabaseSync: typeof DatabaseSync } = createRequire(import.meta.url)('node:sqlite')
    const databases = this.#databases
    const chance = this.#chance.fork()
    sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
      constructor(path: string, options?: DatabaseSyncOptions) {
        super(path, options)
        databases.add(this)
        // The service looks at the clock by chance while SQLite reads many rows.
        this.function('random', () => Math.floor(chance.next() * 2_147_483_648))
      }

      override close() {
        databases.delete(this)
        super.close()
      }
    }
    syncBuiltinESMExports()
  }

  /** A sync next to the thread takes simulated time. */
  #slowSyncs(): void {
    const later = (sync: (file: number) => void) => (file: number, done: (reason: Error | null) => void) => {
      this.#syncs.add(done)
      setTimeout(() => {
        this.#syncs.delete(done)
        try {
          sync(file)
        } catch (reason) {
          return done(reason as Error)
        }
        done(null)
      }, this.#chance.next() * SYNC_MS)
    }
    fs.fdatasync = later(fs.fdatasyncSync) as typeof fs.fdatasync
    fs.fsync = later(fs.fsyncSync) as typeof fs.fsync
    syncBuiltinESMExports()
  }
}

function allFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

function syncAll(folder: string): void {
  const folders = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
  const all = [...allFiles(folder).map((name) => join(folder, name)), folder]
  for (const path of [...all, ...folders.map((entry) => join(entry.parentPath, entry.name))]) {
    const handle = openSync(path, 'r')
    fs.fsyncSync(handle)
    closeSync(handle)
  }
}
