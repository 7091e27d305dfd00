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
import { crc32 } from 'node:zlib'
import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { LEAST_PAGE, PageSums, readPages } from './page-sums.ts'
import { dropSumRecord, SUM_FILE, type SumRecord, sumRecordOf } from './sum-file.ts'
import { logSalt, readLogPages, readWal, type Wal } from './wal.ts'
import { logDamage } from './wal-mark.ts'

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
/** SQLite never writes the page with this byte: locks are on it. */
const LOCK_BYTE = 1_073_741_824

/**
 * A closed file ends with the checksum of its pages: SQLite reads what a flipped bit has left and says nothing. It
 * ignores bytes after the last page, and cuts them off when it copies its log.
 */
const SEAL = 'tilde pages '
/** Older versions wrote the checksum of all bytes. */
const OLD_SEAL = 'tilde crc32 '
const SEAL_BYTES = SEAL.length + 4
/** A larger file is compared in steps: reading it would hold its thread. */
const MOST_AT_ONCE = 8 * 1024 * 1024
/** A larger file whose pages were not followed gets no checksum when it is closed. */
const MOST_SEALED = 32 * 1024 * 1024

/** A file that cannot be read is read again after so long. */
const RETRY_MS = 10_000

/** A file that was compared with its checksum. */
interface Compared {
  readonly damage: string | null
  readonly sums: PageSums
  /** The length and the times that it had. */
  readonly stamp: string
  /** When it is to be compared again, even if it has not changed. */
  readonly until: number
}

/** Clients with an invalid key do not have files read again. */
const compared = new BoundedMap<string, Compared>(1_000)

/**
 * Refuses a file that is not whole, before SQLite opens it: SQLite reads the rows that are left and says nothing.
 * Pages that the file lacks must be in the write-ahead log next to it: a crash may have ended the copying from there.
 */
export function refuseDamaged(path: string): void {
  const damage = lengthDamage(path) ?? sumDamage(path) ?? logDamage(path)
  if (damage !== null) throw damaged(damage)
}

function damaged(damage: string): Problem {
  return new Problem(
    'unavailable',
    `The file of this tenant is damaged: ${damage}. It was not changed. Restore it from a backup.`,
  )
}

/** Whether a file has all of its pages, but not as they were when they were written. */
export function hasChanged(path: string): boolean {
  return lengthDamage(path) === null && sumDamage(path) !== null
}

/** Compares a large file with its checksum, before it is refused or used; null when that takes no steps. */
export function comparing(path: string): Iterator<void, void> | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= MOST_AT_ONCE || isKnown(path) || lengthDamage(path) !== null) return null
  return compareSteps(path)
}

/** The checksums of the pages of a file, which is about to change. */
export function pageSumsOf(path: string): PageSums {
  const { sums, damage } = compare(path)
  if (damage !== null) throw damaged(damage)
  compared.delete(path)
  return sums
}

/** Adds the checksum to a file that SQLite has closed. Returns whether it has one. */
export function seal(path: string): boolean {
  const { size, atime, mtime } = statSync(path)
  if (existsSync(`${path}-wal`) || size % LEAST_PAGE !== 0) return false
  const sum = closedSum(path, size)
  if (sum === null) return false
  const bytes = Buffer.alloc(SEAL_BYTES, SEAL, 'latin1')
  bytes.writeUInt32BE(sum, SEAL.length)
  try {
    appendFileSync(path, bytes)
    // The time of the last write is that of the tenant: backups ask only those that were written to.
    utimesSync(path, atime, mtime)
    return true
  } catch {
    // A full disk or one that may only be read: the file is as good without.
    if (statSync(path).size > size) truncateSync(path, size)
    return false
  }
}

/** Adds the checksum to a file that is closed. If it is large, this process reads it again only when it has changed. */
export function endUse(path: string, sums: PageSums | null): void {
  const isSealed = seal(path)
  dropSumRecord(path)
  if (isSealed && sums && statSync(path).size > MOST_AT_ONCE)
    remember(path, { stamp: stampOf(path), sums, damage: null })
}

/** Takes the checksum off a file that is about to be used: SQLite would count it as a page. */
export function unseal(path: string): void {
  const { size, atime, mtime } = statSync(path)
  if (size % LEAST_PAGE !== SEAL_BYTES) return
  try {
    truncateSync(path, size - SEAL_BYTES)
    utimesSync(path, atime, mtime)
  } catch {
    // SQLite cannot write to it either, and says so.
  }
}

/** The checksum that a file had in use. One that had none is read, if it is small. */
function closedSum(path: string, size: number): number | null {
  const record = sumRecordOf(path)
  if (record === null) {
    const found = size <= MOST_SEALED ? compare(path) : null
    return found?.damage === null ? found.sums.sum : null
  }
  // More may have been copied than it tells.
  if (record.copying && !record.copying.isLast) return null
  const file = openSync(path, 'r')
  try {
    return record.pages * (headerOf(file)?.pageSize ?? 0) === size ? record.sum : null
  } finally {
    closeSync(file)
  }
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
  const header = headerOf(file)
  if (header === null) return 'it does not begin with the header of a SQLite database'
  const { pageSize } = header
  const pages = wal?.pages ?? header.pages
  const whole = Math.floor(length / pageSize)
  for (let page = whole + 1; page <= pages; page++) {
    if (wal?.written.has(page) || page === LOCK_BYTE / pageSize + 1) continue
    return `it has ${length} bytes of ${pages * pageSize}`
  }
  const rest = length % pageSize
  if (wal === null && rest !== 0 && rest !== SEAL_BYTES)
    return `it has ${length} bytes of ${whole * pageSize + SEAL_BYTES}`
  return null
}

function sumDamage(path: string): string | null {
  // Without a checksum there is nothing to read for.
  if (!hasSeal(path) && sumRecordOf(path) === null) return null
  return compare(path).damage
}

function isKnown(path: string): boolean {
  const known = compared.get(path)
  return known !== undefined && known.stamp === stampOf(path) && performance.now() < known.until
}

function remember(path: string, found: Omit<Compared, 'until'>, ms = Number.POSITIVE_INFINITY): void {
  compared.set(path, { ...found, until: performance.now() + ms })
}

function compare(path: string): Compared {
  const steps = compareSteps(path)
  if (!isKnown(path)) while (!steps.next().done);
  return compared.get(path)!
}

function* compareSteps(path: string): Generator<void, void> {
  const stamp = stampOf(path)
  const file = openSync(path, 'r')
  try {
    const pageSize = headerOf(file)?.pageSize ?? LEAST_PAGE
    const sums = yield* readPages(file, Math.floor(fstatSync(file).size / pageSize), pageSize)
    const isWhole = isSealRight(path, file, sums) && isRecordRight(path, sums)
    remember(path, { stamp, sums, damage: isWhole ? null : 'its pages differ from their checksum' })
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code !== 'EIO') throw reason
    remember(path, { stamp, sums: new PageSums(LEAST_PAGE), damage: 'it cannot be read (EIO)' }, RETRY_MS)
  } finally {
    closeSync(file)
  }
}

/** The checksum at the end of a file that was closed. */
function isSealRight(path: string, file: number, sums: PageSums): boolean {
  if (!hasSeal(path)) return true
  const sealed = Buffer.alloc(SEAL_BYTES)
  const length = fstatSync(file).size - SEAL_BYTES
  readSync(file, sealed, 0, SEAL_BYTES, length)
  // The power went before the checksum was on the disk.
  if (sealed.every((byte) => byte === 0)) return true
  const sum = sealed.readUInt32BE(SEAL.length)
  switch (sealed.toString('latin1', 0, SEAL.length)) {
    case SEAL:
      return sum === sums.sum
    case OLD_SEAL:
      return sum === crcOf(file, length)
    default:
      return false
  }
}

function hasSeal(path: string): boolean {
  return statSync(path).size % LEAST_PAGE === SEAL_BYTES && readWal(`${path}-wal`) === null
}

/** The checksum next to a file that was in use. */
function isRecordRight(path: string, sums: PageSums): boolean {
  const record = sumRecordOf(path)
  if (record === null) return true
  const isSame = ({ pages, sum }: SumRecord) => pages === sums.pages && sum === sums.sum
  // Without a log SQLite has closed the file itself, as at the end of a thread: it has copied the log into it.
  if (record.copying === null) return !existsSync(`${path}-wal`) || isSame(record)
  const { salt, frames, kept, rest, isLast } = record.copying
  const found = logSalt(`${path}-wal`)
  if (found === null) return !isLast || isSame(record)
  // The power went before the disk knew that all was copied, and the log was started again.
  if (!found.equals(salt)) return true
  const log = readLogPages(`${path}-wal`, frames)
  return log === null || sums.restOf(kept, log) === rest
}

/** Programs can set the time of the last write, but not that of the last change. */
function stampOf(path: string): string {
  const { ctimeMs, mtimeMs, ino, size } = statSync(path)
  return `${ctimeMs} ${mtimeMs} ${ino} ${size} ${statSync(`${path}${SUM_FILE}`, { throwIfNoEntry: false })?.mtimeMs}`
}

/** The checksum of the first bytes of a file. */
function crcOf(file: number, length: number): number {
  const bytes = Buffer.alloc(length)
  return crc32(bytes.subarray(0, readSync(file, bytes, 0, length, 0)))
}

/** How many pages a database has, and how large they are; null when this is none. */
function headerOf(file: number): { readonly pageSize: number; readonly pages: number } | null {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  const written = header.readUInt16BE(16)
  const pageSize = written === 1 ? 65_536 : written
  const pages = header.readUInt32BE(28)
  // A database in use has one page or more. A power of two has no bit in common with the number before it.
  const isValid = pageSize >= LEAST_PAGE && (pageSize & (pageSize - 1)) === 0 && pages > 0
  return isValid ? { pageSize, pages } : null
}
