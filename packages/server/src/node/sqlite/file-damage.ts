import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { crcOf, type FileSum, fileSumOf, LEAST_PAGE, SUM_FILE } from './open-sum.ts'
import { readWal, type Wal } from './wal.ts'
import { logDamage } from './wal-mark.ts'

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100

/**
 * A closed file ends with the checksum of its pages: SQLite reads what a flipped bit has left and says nothing. It
 * ignores bytes after the last page, and cuts them off when it copies its log.
 */
const SEAL = 'tilde crc32 '
const SEAL_BYTES = SEAL.length + 4
/** A larger file has no checksum: reading it would keep its thread for more than some 50 ms. */
const MOST_SEALED = 32 * 1024 * 1024

/** Files that were found whole, with their length and time: a client with an invalid key does not have them read again. */
const found = new BoundedMap<string, string>(1_000)

/**
 * Refuses a file that is not whole, before SQLite opens it: SQLite reads the rows that are left and says nothing.
 * Pages that the file lacks must be in the write-ahead log next to it: a crash may have ended the copying from there.
 */
export function refuseDamaged(path: string): void {
  const damage = lengthDamage(path) ?? sumDamage(path) ?? logDamage(path)
  if (damage === null) return
  throw new Problem(
    'unavailable',
    `The file of this tenant is damaged: ${damage}. It was not changed. Restore it from a backup.`,
  )
}

/** Whether a file has all of its pages, but not as they were when they were written. */
export function hasChanged(path: string): boolean {
  return lengthDamage(path) === null && sumDamage(path) !== null
}

/** Adds the checksum to a file that SQLite has closed. */
export function seal(path: string): void {
  const { size, atime, mtime } = statSync(path)
  if (size > MOST_SEALED || existsSync(`${path}-wal`)) return
  if (size % LEAST_PAGE !== 0) return
  const sum = Buffer.alloc(SEAL_BYTES, SEAL, 'latin1')
  sum.writeUInt32BE(readSum(path, size).sum, SEAL.length)
  try {
    appendFileSync(path, sum)
    // The time of the last write is that of the tenant: backups ask only those that were written to.
    utimesSync(path, atime, mtime)
  } catch {
    // A full disk or one that may only be read: the file is as good without.
    if (statSync(path).size > size) truncateSync(path, size)
  }
}

/** Takes the checksum off a file that is about to be used, and returns it: SQLite would count it as a page. */
export function unseal(path: string): FileSum | null {
  const { size, atime, mtime } = statSync(path)
  if (size % LEAST_PAGE !== SEAL_BYTES) return null
  const file = openSync(path, 'r')
  const sealed = Buffer.alloc(SEAL_BYTES)
  try {
    readSync(file, sealed, 0, SEAL_BYTES, size - SEAL_BYTES)
  } finally {
    closeSync(file)
  }
  try {
    truncateSync(path, size - SEAL_BYTES)
    utimesSync(path, atime, mtime)
  } catch {
    // SQLite cannot write to it either, and says so.
  }
  return isSeal(sealed) ? { sum: sealed.readUInt32BE(SEAL.length), length: size - SEAL_BYTES } : null
}

/** The checksum of a file that is closed and has none. */
export function sumOf(path: string): FileSum {
  const { size: length } = statSync(path)
  return { length, sum: readSum(path, length).sum }
}

function lengthDamage(path: string): string | null {
  const file = openSync(path, 'r')
  try {
    return damageOf(file, readWal(`${path}-wal`))
  } finally {
    closeSync(file)
  }
}

function damageOf(file: number, wal: Wal | null): string | null {
  const length = fstatSync(file).size
  if (length === 0) return 'it is empty'
  const header = Buffer.alloc(HEADER_BYTES)
  const pageSize = readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? pageSizeOf(header) : null
  if (pageSize === null) return 'it does not begin with the header of a SQLite database'
  const pages = wal?.pages ?? header.readUInt32BE(28)
  const whole = Math.floor(length / pageSize)
  for (let page = whole + 1; page <= pages; page++) {
    if (wal?.written.has(page)) continue
    return `it has ${length} bytes of ${pages * pageSize}`
  }
  const rest = length % pageSize
  if (wal === null && rest !== 0 && rest !== SEAL_BYTES)
    return `it has ${length} bytes of ${whole * pageSize + SEAL_BYTES}`
  return null
}

/** Compares a file with its checksum: at its end if it was closed, in a file of its own if it was in use. */
function sumDamage(path: string): string | null {
  const stamp = stampOf(path)
  if (found.get(path) === stamp) return null
  if (!isSealWhole(path) || !isSumWhole(path)) return 'its pages differ from their checksum'
  found.set(path, stamp)
  return null
}

function isSealWhole(path: string): boolean {
  const { size } = statSync(path)
  if (size % LEAST_PAGE !== SEAL_BYTES || size > MOST_SEALED + SEAL_BYTES || readWal(`${path}-wal`) !== null)
    return true
  const { sum, rest: sealed } = readSum(path, size - SEAL_BYTES)
  // The power went before the checksum was on the disk.
  const isLost = sealed.every((byte) => byte === 0)
  return isLost || (isSeal(sealed) && sealed.readUInt32BE(SEAL.length) === sum)
}

/** Without a log SQLite has closed the file itself, as at the end of a thread: it has copied the log into it. */
function isSumWhole(path: string): boolean {
  const of = existsSync(`${path}-wal`) ? fileSumOf(path) : null
  return of === null || readSum(path, of.length).sum === of.sum
}

function isSeal(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, SEAL.length) === SEAL
}

/** The checksum of the first bytes of a file, and what follows them. */
function readSum(path: string, length: number): { readonly sum: number; readonly rest: Buffer } {
  const file = openSync(path, 'r')
  try {
    const rest = Buffer.alloc(SEAL_BYTES)
    readSync(file, rest, 0, SEAL_BYTES, length)
    return { sum: crcOf(file, length), rest }
  } finally {
    closeSync(file)
  }
}

function stampOf(path: string): string {
  const { mtimeMs, size } = statSync(path)
  return `${mtimeMs} ${size} ${statSync(`${path}${SUM_FILE}`, { throwIfNoEntry: false })?.mtimeMs}`
}

/** The size of a page, or null when this is not a header. */
function pageSizeOf(header: Buffer): number | null {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  const written = header.readUInt16BE(16)
  const size = written === 1 ? 65_536 : written
  // A database in use has one page or more. A power of two has no bit in common with the number before it.
  const isValid = size >= LEAST_PAGE && (size & (size - 1)) === 0 && header.readUInt32BE(28) > 0
  return isValid ? size : null
}
