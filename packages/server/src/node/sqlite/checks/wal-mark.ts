import { closeSync, constants, openSync, readFileSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { SUM_FILE } from './sum-file.ts'
import { HEADER_BYTES, isHeader, wholeFrames } from './wal.ts'

/** The ends of the names of all files of a database. */
export const SUFFIXES = ['', '-wal', '-shm', '-mark', SUM_FILE]

/** The salt of a log, the number of its frames, and a checksum of both. */
const MARK_BYTES = 16
const SALT = { at: 16, bytes: 8 }

/**
 * How much of a write-ahead log is on the disk, in a small file next to it. SQLite takes the first frame that it cannot
 * read for the end of its log, because lost power can leave half of a commit there. So it forgets commits without a word
 * when the log was truncated, damaged or deleted after a crash. The mark is written after each sync, before an answer
 * leaves: it never claims more than the disk has. It is not synced itself, since that would take as long as the commit.
 */
export class WalMark {
  readonly #log: number
  /** Null where no file can be created. */
  readonly #file: number | null
  readonly #mark = Buffer.alloc(MARK_BYTES)
  #hasSalt = false

  /** `log` is a handle of the log of this database. */
  constructor(path: string, log: number) {
    this.#log = log
    this.#file = openMark(path)
  }

  /** So many frames of the log are on the disk. */
  synced(frames: number): void {
    if (!this.#hasSalt) readSync(this.#log, this.#mark, 0, SALT.bytes, SALT.at)
    this.#hasSalt = true
    this.#write(frames)
  }

  /** All of the log is in the database: SQLite may start it again, with another salt. */
  copied(): void {
    this.#hasSalt = false
    this.#write(0)
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
  }

  #write(frames: number): void {
    if (this.#file === null) return
    this.#mark.writeUInt32BE(frames, SALT.bytes)
    this.#mark.writeUInt32BE(crc32(this.#mark.subarray(0, 12)), 12)
    try {
      writeSync(this.#file, this.#mark, 0, MARK_BYTES, 0)
    } catch {
      // A full disk: the commits are there. An older mark claims less, or another round of the log.
    }
  }
}

/** Opens a mark without changing it: what it says of the commits before a crash stays until the next sync. */
function openMark(path: string): number | null {
  try {
    return openSync(markOf(path), constants.O_RDWR | constants.O_CREAT, 0o600)
  } catch {
    return null
  }
}

/** Removes the mark of a file, before SQLite copies its log and removes it. */
export function removeMark(path: string): void {
  rmSync(markOf(path), { force: true })
}

/** Compares the write-ahead log that a crash left with its mark. */
export function logDamage(path: string): string | null {
  const mark = readMark(path)
  if (mark === null || mark.frames === 0) return null
  const found = framesOf(path, mark.salt)
  if (found === null || found >= mark.frames) return null
  return `its write-ahead log has ${found} of ${mark.frames} pages that were acknowledged`
}

/** How many whole frames the log has; null when SQLite has started it again, or closed it, since the mark was written. */
function framesOf(path: string, salt: Buffer): number | null {
  const log = `${path}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < HEADER_BYTES) return isClosed(path) ? null : 0
  const file = openSync(log, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(file, header, 0, HEADER_BYTES, 0)
    if (!isHeader(header)) return 0
    return header.compare(salt, 0, SALT.bytes, SALT.at, SALT.at + SALT.bytes) === 0 ? wholeFrames(file, header) : null
  } finally {
    closeSync(file)
  }
}

/**
 * Whether SQLite has closed the file since, at the end of a thread or for another program: it copied the log into the
 * database then.
 */
function isClosed(path: string): boolean {
  return statSync(path).mtimeMs >= statSync(markOf(path)).mtimeMs
}

function readMark(path: string): { readonly salt: Buffer; readonly frames: number } | null {
  if (statSync(markOf(path), { throwIfNoEntry: false }) === undefined) return null
  const mark = readFileSync(markOf(path))
  // Lost power may have taken it.
  if (mark.length !== MARK_BYTES || mark.readUInt32BE(12) !== crc32(mark.subarray(0, 12))) return null
  return { salt: mark.subarray(0, SALT.bytes), frames: mark.readUInt32BE(SALT.bytes) }
}

function markOf(path: string): string {
  return `${path}-mark`
}
