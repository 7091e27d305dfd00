import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import type { PageSums } from './page-sums.ts'
import { type LogPages, logSalt, readLogPages } from './wal.ts'

/** What the name of a file has at its end that holds the checksum of another. */
export const SUM_FILE = '-sum'

/** What the checksum of a file in use says. */
export interface SumRecord {
  /** The pages of the file and their checksum; while a log is copied into it, those afterwards. */
  readonly pages: number
  readonly sum: number
  /** The log that is copied into it. Null when the file has not changed since. */
  readonly copying: Copying | null
}

/** A file with pages from its log, of which nothing tells how many have come to the disk. */
interface Copying {
  readonly salt: Buffer
  /** How much of the log is copied. */
  readonly frames: number
  /** The pages that the file has before and after, and the checksum of those that the log does not hold. */
  readonly kept: number
  readonly rest: number
  /** Whether SQLite copies all of the log now, and removes or empties it. */
  readonly isLast: boolean
}

const MAGIC = 'tilde sum 2 '
const SALT_BYTES = 8
/** After the magic: pages, sum, whether a log is copied, its salt and frames, the pages kept, the rest, a checksum. */
const AT = { pages: 12, sum: 16, copying: 20, salt: 24, frames: 32, kept: 36, rest: 40, crc: 44 }
const RECORD_BYTES = 48
/** Which copy of a log a record tells of. */
const [NONE, SOME, LAST] = [0, 1, 2]

/** The checksum of a file in use; null when it has none, or the power went before that was on the disk. */
export function sumRecordOf(path: string): SumRecord | null {
  const file = `${path}${SUM_FILE}`
  const bytes = existsSync(file) ? readFileSync(file) : null
  if (bytes?.length !== RECORD_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  if (bytes.readUInt32BE(AT.crc) !== crc32(bytes.subarray(0, AT.crc))) return null
  const copying = {
    salt: bytes.subarray(AT.salt, AT.salt + SALT_BYTES),
    frames: bytes.readUInt32BE(AT.frames),
    kept: bytes.readUInt32BE(AT.kept),
    rest: bytes.readUInt32BE(AT.rest),
    isLast: bytes.readUInt32BE(AT.copying) === LAST,
  }
  return {
    pages: bytes.readUInt32BE(AT.pages),
    sum: bytes.readUInt32BE(AT.sum),
    copying: bytes.readUInt32BE(AT.copying) === NONE ? null : copying,
  }
}

/** Notes the checksum of a file that is about to be used. */
export function writeSumRecord(path: string, { pages, sum }: PageSums): void {
  try {
    writeFileSync(`${path}${SUM_FILE}`, bytesOf({ pages, sum, copying: null }), { mode: 0o600 })
  } catch {
    // A full disk or one that may only be read: the file is as good without.
    dropSumRecord(path)
  }
}

/** Before a file is changed by others than a connection with its checksums. Waits for the disk. */
export function clearSumRecord(path: string): void {
  if (!existsSync(`${path}${SUM_FILE}`)) return
  const file = openSync(`${path}${SUM_FILE}`, 'r+')
  try {
    ftruncateSync(file)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** After a file was closed. */
export function dropSumRecord(path: string): void {
  rmSync(`${path}${SUM_FILE}`, { force: true })
}

/**
 * The checksum of a file that is open. The file changes only while its log is copied into it. A crash may end that
 * anywhere. So before, the checksum is replaced by one of the pages that the log does not hold: what is in the log is read
 * from there after a crash.
 */
export class SumFile {
  readonly file: number
  readonly #path: string
  readonly #sums: PageSums
  /** What is copied, and whether the disk knows of it. */
  #copy: LogPages | null = null
  #isLast = false
  #isNoted = false

  constructor(path: string, sums: PageSums) {
    this.#path = path
    this.#sums = sums
    this.file = openSync(`${path}${SUM_FILE}`, constants.O_RDWR | constants.O_CREAT, 0o600)
  }

  /** Before so many frames of the log are copied. Returns whether the file of the checksum has to be synced first. */
  begin(frames: number, isLast = false): boolean {
    if (this.#copy?.frames !== frames || this.#isLast !== isLast) {
      this.#copy = readLogPages(`${this.#path}-wal`, frames, this.#copy)
      this.#isLast = isLast
      this.#isNoted = this.#copy === null
      if (this.#copy) this.#write(recordOf(this.#sums, this.#copy, isLast))
    }
    return !this.#isNoted
  }

  /** The disk has what was begun. */
  noted(): void {
    this.#isNoted = true
  }

  /** The database has all that was begun, on the disk. Returns that. */
  copied(): LogPages | null {
    const copy = this.#copy
    if (copy === null) return null
    this.#sums.copied(copy)
    this.#copy = null
    const { pages, sum } = this.#sums
    this.#write({ pages, sum, copying: null })
    return copy
  }

  close(): void {
    closeSync(this.file)
  }

  #write(record: SumRecord): void {
    try {
      writeSync(this.file, bytesOf(record), 0, RECORD_BYTES, 0)
    } catch {
      // A full disk: the file is as good without.
      ftruncateSync(this.file)
    }
  }
}

/**
 * Before SQLite copies all of the log, as when it closes the file. `sync` brings what is noted to the disk. The result is
 * called afterwards, and returns the pages that were copied.
 */
export function noteCopy(
  path: string,
  sums: PageSums,
  frames: number,
  sync: (file: number, path: string) => void = fdatasyncSync,
): () => LogPages | null {
  const sum = new SumFile(path, sums)
  if (sum.begin(frames, true)) sync(sum.file, `${path}${SUM_FILE}`)
  return () => {
    try {
      return logSalt(`${path}-wal`) === null ? sum.copied() : null
    } finally {
      sum.close()
    }
  }
}

function recordOf(sums: PageSums, copy: LogPages, isLast: boolean): SumRecord {
  const { salt, frames } = copy
  const after = sums.copy()
  after.copied(copy)
  const kept = Math.min(sums.pages, after.pages)
  return { pages: after.pages, sum: after.sum, copying: { salt, frames, kept, rest: sums.restOf(kept, copy), isLast } }
}

function bytesOf({ pages, sum, copying }: SumRecord): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt32BE(pages, AT.pages)
  bytes.writeUInt32BE(sum, AT.sum)
  if (copying) {
    bytes.writeUInt32BE(copying.isLast ? LAST : SOME, AT.copying)
    copying.salt.copy(bytes, AT.salt)
    bytes.writeUInt32BE(copying.frames, AT.frames)
    bytes.writeUInt32BE(copying.kept, AT.kept)
    bytes.writeUInt32BE(copying.rest, AT.rest)
  }
  bytes.writeUInt32BE(crc32(bytes.subarray(0, AT.crc)), AT.crc)
  return bytes
}
