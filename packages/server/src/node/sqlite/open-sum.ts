import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'

/** Every size of pages is a multiple of it. */
export const LEAST_PAGE = 512
/** What the name of a file has at its end that holds the checksum of another. */
export const SUM_FILE = '-sum'

const MAGIC = 'tilde sum 1 '
const SUM_BYTES = MAGIC.length + 12
/** A larger file is not read again after its log was copied into it: that would keep its thread for too long. */
const MOST_RENEWED = 8 * 1024 * 1024

/** The checksum of the first bytes of a file. */
export interface FileSum {
  readonly length: number
  readonly sum: number
}

/** The checksum of a file in use; null when it has none, or the power went before that was on the disk. */
export function fileSumOf(path: string): FileSum | null {
  const file = `${path}${SUM_FILE}`
  const bytes = existsSync(file) ? readFileSync(file) : null
  if (bytes?.length !== SUM_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  return { sum: bytes.readUInt32BE(MAGIC.length), length: Number(bytes.readBigUInt64BE(MAGIC.length + 4)) }
}

/** Notes the checksum of a file that is about to be used. */
export function writeFileSum(path: string, of: FileSum): void {
  try {
    writeFileSync(`${path}${SUM_FILE}`, bytesOf(of), { mode: 0o600 })
  } catch {
    // A full disk or one that may only be read: the file is as good without.
    dropFileSum(path)
  }
}

/** Before a file is changed by others than an `OpenSum`. Waits for the disk. */
export function clearFileSum(path: string): void {
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
export function dropFileSum(path: string): void {
  rmSync(`${path}${SUM_FILE}`, { force: true })
}

/**
 * The checksum of a file that is open. The file changes only while its log is copied into it. What a crash leaves of
 * that differs from the checksum, so this is gone from the disk before.
 */
export class OpenSum {
  readonly file: number
  #state: 'set' | 'cleared' | 'gone' = 'set'

  constructor(file: number) {
    this.file = file
  }

  /** Clears it before the file changes. Returns whether that has to come to the disk first. */
  clear(): boolean {
    if (this.#state === 'set') {
      ftruncateSync(this.file)
      this.#state = 'cleared'
    }
    return this.#state === 'cleared'
  }

  /** The disk has what was cleared. */
  cleared(): void {
    if (this.#state === 'cleared') this.#state = 'gone'
  }

  /** Notes the checksum of a file that is whole on the disk. */
  renew(database: number): void {
    const length = fstatSync(database).size
    if (length > MOST_RENEWED || length % LEAST_PAGE !== 0) return
    try {
      writeSync(this.file, bytesOf({ length, sum: crcOf(database, length) }), 0, SUM_BYTES, 0)
      this.#state = 'set'
    } catch {
      // A full disk: the file is as good without, and what was written of it is no checksum.
    }
  }
}

/** The checksum of an open file, if it had one when it was opened. */
export function openSumOf(path: string): OpenSum | null {
  return existsSync(`${path}${SUM_FILE}`) ? new OpenSum(openSync(`${path}${SUM_FILE}`, 'r+')) : null
}

/** After a start many files are read: into the same memory. */
const chunk = Buffer.alloc(256 * 1024)

/** The checksum of the first bytes of an open file. */
export function crcOf(file: number, length: number): number {
  let sum = 0
  for (let at = 0; at < length; ) {
    const count = readSync(file, chunk, 0, Math.min(chunk.length, length - at), at)
    if (count === 0) break
    sum = crc32(chunk.subarray(0, count), sum)
    at += count
  }
  return sum
}

function bytesOf({ length, sum }: FileSum): Buffer {
  const bytes = Buffer.alloc(SUM_BYTES, MAGIC, 'latin1')
  bytes.writeUInt32BE(sum, MAGIC.length)
  bytes.writeBigUInt64BE(BigInt(length), MAGIC.length + 4)
  return bytes
}
